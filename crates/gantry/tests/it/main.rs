//! Tests of the public API: in one process, and between two.
//!
//! The same program is also the child processes: `it --child ROLE TOPIC` plays a role of `child`. All processes use one
//! directory of shared memory, which the first one makes; each test has topics of its own.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so by panicking")]

mod awaiting;
mod child;
mod collector;
mod deadline_liveliness;
mod events;
mod executor_losses;
mod executors;
mod first_messages;
mod generic;
mod generic_services;
mod graph;
mod guard_conditions;
mod isolated;
mod listener;
mod logging;
mod nodes;
mod one_allocation;
mod parameters;

mod qos;
mod realtime;
mod received;
mod rosout;
mod service_failures;
mod service_isolation;
mod service_tasks;
mod services;
mod shutdown;
mod spin_node;
mod stopped;
mod support;
mod typed;
mod types;

use libtest_mimic::Arguments;
use std::process::{Command, ExitCode};
use test_support::trials;

/// The directory of the shared memory. The library reads it when a node is made, so it is set for a process of its own.
const DIRECTORY_VARIABLE: &str = "GANTRY_SHM_DIR";
/// The variable that marks that process.
const INNER_VARIABLE: &str = "GANTRY_TEST_INNER";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, child, role, topic] = &arguments[..]
        && child == "--child"
    {
        if !executors::play(role, topic) && !shutdown::play(role) && !nodes::play(role) {
            child::play(role, topic);
        }
        return ExitCode::SUCCESS;
    }
    if std::env::var_os(INNER_VARIABLE).is_none() {
        return in_own_directory(&arguments[1..]);
    }
    let tests = [
        awaiting::TESTS,
        collector::TESTS,
        events::TESTS,
        executor_losses::TESTS,
        first_messages::TESTS,
        generic::TESTS,
        generic_services::TESTS,
        graph::TESTS,
        isolated::TESTS,
        listener::TESTS,
        guard_conditions::TESTS,
        logging::TESTS,
        nodes::TESTS,
        one_allocation::TESTS,
        parameters::TESTS,
        received::TESTS,
        rosout::TESTS,
        deadline_liveliness::TESTS,
        qos::TESTS,
        services::TESTS,
        spin_node::TESTS,
        shutdown::TESTS,
        service_failures::TESTS,
        service_isolation::TESTS,
        service_tasks::TESTS,
        typed::TESTS,
        types::TESTS,
    ];
    let mut trials = trials(tests);
    trials.extend(realtime::trials());
    trials.extend(executors::trials());
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn in_own_directory(arguments: &[String]) -> ExitCode {
    let directory = tempfile::Builder::new().prefix("gantry-test-").tempdir_in("/dev/shm").unwrap();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(arguments)
        .env(DIRECTORY_VARIABLE, directory.path())
        .env(INNER_VARIABLE, "1")
        .env_remove("ROS_DOMAIN_ID")
        .env("GANTRY_LOG", "off") // of tests that provoke warnings
        .status()
        .unwrap();
    if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
