//! The worker program of the mock, which `perf_test -c Mock` finds beside itself.
#![forbid(unsafe_code)]

mod mock;

use std::process::ExitCode;

fn main() -> ExitCode {
    perf_worker::worker::main(&mock::Mock)
}
