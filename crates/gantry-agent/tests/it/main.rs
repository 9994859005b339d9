//! Tests of the agent: clients of `gantry-xrce` on one side, nodes of Gantry on the other one. Each test has topics of
//! its own.
//!
//! All of them use one directory of shared memory, which the outer process makes for the inner one.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so by panicking")]

mod access;
mod byte_order;
mod can;
mod firmware;
mod hostile;
mod logins;
mod memory;
mod neighbours;
mod objects;
mod program;
mod saturation;
mod services;
mod sessions;
mod storeys;
mod storms;
mod streams;
mod support;
mod threads;
mod topics;
mod transports;
mod xml;

use libtest_mimic::Arguments;
use std::process::{Command, ExitCode};
use test_support::trials;

/// The variable that marks the inner process.
const INNER_VARIABLE: &str = "GANTRY_TEST_INNER";

fn main() -> ExitCode {
    if std::env::var_os(INNER_VARIABLE).is_some() {
        let tests = [
            access::TESTS,
            byte_order::TESTS,
            can::TESTS,
            firmware::TESTS,
            hostile::TESTS,
            logins::TESTS,
            memory::TESTS,
            neighbours::TESTS,
            objects::TESTS,
            program::TESTS,
            saturation::TESTS,
            services::TESTS,
            sessions::TESTS,
            storeys::TESTS,
            storms::TESTS,
            streams::TESTS,
            threads::TESTS,
            topics::TESTS,
            transports::TESTS,
            xml::TESTS,
        ];
        let tests = tests.into_iter().chain(transports::OF_EACH);
        return libtest_mimic::run(&Arguments::from_args(), trials(tests)).exit_code();
    }
    let directory = tempfile::Builder::new().prefix("gantry-agent-test-").tempdir_in("/dev/shm").unwrap();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(std::env::args().skip(1))
        .env("GANTRY_SHM_DIR", directory.path())
        .env(INNER_VARIABLE, "1")
        .env_remove("ROS_DOMAIN_ID")
        .env_remove("GANTRY_LOG")
        .status()
        .unwrap();
    if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
