//! The `perf_test` program.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    perf_test::program::main(std::env::args_os())
}
