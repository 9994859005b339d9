//! The worker program of the baseline `tcp`: TCP over the loopback.

use std::process::ExitCode;

fn main() -> ExitCode {
    perf_worker::worker::main(&baselines::TCP)
}
