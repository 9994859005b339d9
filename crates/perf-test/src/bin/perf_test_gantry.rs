//! The worker program of Gantry.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    perf_worker::worker::main(&perf_worker_gantry::Gantry)
}
