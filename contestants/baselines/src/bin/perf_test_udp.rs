//! The worker program of the baseline `udp`: UDP over the loopback.

use std::process::ExitCode;

fn main() -> ExitCode {
    perf_worker::worker::main(&baselines::UDP)
}
