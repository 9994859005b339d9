//! Tests of the public API, in one process and between two processes.
//!
//! The same program also runs as the child processes: `it --child ROLE TOPIC` plays a role of `child`. All processes
//! use one directory of shared memory, which the first process makes. Each test has its own topics.

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

use std::process::ExitCode;
use test_support::in_own_memory;

/// The variable with the directory of the shared memory. The library reads it when a node is made, so the tests run in
/// a process that was started with it.
const DIRECTORY_VARIABLE: &str = "GANTRY_SHM_DIR";

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
    // The log is off, because tests provoke warnings.
    in_own_memory(Some("off"), || {
        // The tests of slow callbacks wait longest, so the executors come first.
        let mut trials = executors::trials();
        trials.extend(test_support::trials([
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
        ]));
        trials.extend(realtime::trials());
        trials
    })
}
