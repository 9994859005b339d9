//! The worker program of the baseline `memcpy`: copies through shared memory.

use std::process::ExitCode;

fn main() -> ExitCode {
    perf_worker::worker::main(&baselines::MEMCPY)
}
