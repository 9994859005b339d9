//! Tests of the recorder: the built program records and plays topics of nodes that the test makes. Each test has its
//! own domain.
//!
//! All tests use one directory for shared memory: an outer process makes it and runs the tests in an inner process.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so by panicking")]

mod convert;
mod faults;
mod play;
mod readers;
mod record;
mod snapshot;
mod support;

use std::process::ExitCode;
use test_support::{in_own_memory, trials};

fn main() -> ExitCode {
    in_own_memory(None, || {
        let tests = [convert::TESTS, faults::TESTS, play::TESTS, readers::TESTS, record::TESTS, snapshot::TESTS];
        trials(tests)
    })
}
