//! Tests of the command: the built program examines nodes that the test makes. Each test has a domain of its own.
//!
//! All tests use one directory of shared memory. The test program makes it and runs itself again with it
//! (`in_own_memory`).

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so by panicking")]

mod bridge;
mod doctor;
mod echo;
mod graph;
mod interfaces;
mod parameters;
mod program;
mod rates;
mod services;
mod support;

use std::process::ExitCode;
use test_support::{in_own_memory, trials};

fn main() -> ExitCode {
    in_own_memory(None, || {
        let tests = [
            bridge::TESTS,
            doctor::TESTS,
            echo::TESTS,
            graph::TESTS,
            interfaces::TESTS,
            parameters::TESTS,
            program::TESTS,
            rates::TESTS,
            services::TESTS,
        ];
        trials(tests)
    })
}
