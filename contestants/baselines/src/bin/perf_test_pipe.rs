//! The worker program of the baseline `pipe`: anonymous pipes.

use std::process::ExitCode;

fn main() -> ExitCode {
    perf_worker::worker::main(&baselines::PIPE)
}
