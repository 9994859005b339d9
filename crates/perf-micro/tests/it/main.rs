//! Tests of the real program, which is started as a process.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod lines;
mod memory;
mod program;

use std::process::ExitCode;

use test_support::{side_by_side, trials};

/// The number of tests that run at once. Most tests sleep while their experiments run, so it may exceed the number of
/// CPUs.
const THREADS: usize = 8;

fn main() -> ExitCode {
    libtest_mimic::run(&side_by_side(THREADS), trials([lines::TESTS, memory::TESTS])).exit_code()
}
