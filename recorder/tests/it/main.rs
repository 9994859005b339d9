//! Tests of the recorder: the built program records and plays topics of nodes that the test makes. Each test has a
//! domain of its own.
//!
//! All of them use one directory of shared memory, which the outer process makes for the inner one.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so by panicking")]

mod convert;
mod faults;
mod play;
mod readers;
mod record;
mod snapshot;
mod support;

use libtest_mimic::Arguments;
use std::process::{Command, ExitCode};
use test_support::trials;

/// The variable that marks the inner process.
const INNER_VARIABLE: &str = "GANTRY_TEST_INNER";

fn main() -> ExitCode {
    if std::env::var_os(INNER_VARIABLE).is_some() {
        let tests = [convert::TESTS, faults::TESTS, play::TESTS, readers::TESTS, record::TESTS, snapshot::TESTS];
        return libtest_mimic::run(&Arguments::from_args(), trials(tests)).exit_code();
    }
    let directory = tempfile::Builder::new().prefix("gantry-bag-test-").tempdir_in("/dev/shm").unwrap();
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
