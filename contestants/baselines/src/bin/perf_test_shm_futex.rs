//! The worker program of the baseline `shm-futex`: shared memory and a futex.

use std::process::ExitCode;

fn main() -> ExitCode {
    perf_worker::worker::main(&baselines::SHM_FUTEX)
}
