//! Tests of the real program, which is started as a process.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod lines;
mod memory;
mod program;

use std::process::ExitCode;

use test_support::{run, trials};

fn main() -> ExitCode {
    run(trials([lines::TESTS, memory::TESTS]))
}
