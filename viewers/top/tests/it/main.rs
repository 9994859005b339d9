//! Tests of the live table: the screen contents for real publishers, and the program in a pseudo-terminal.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so by panicking")]

mod picture;
mod program;
mod world;

use std::process::ExitCode;
use test_support::{in_own_memory, trials};

fn main() -> ExitCode {
    in_own_memory(None, || trials([picture::TESTS, program::TESTS]))
}
