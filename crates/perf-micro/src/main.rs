//! The `perf_micro` program.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    perf_micro::program::main(std::env::args_os())
}
