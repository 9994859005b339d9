//! The worker program of the mock. `perf_test -c Mock` finds it in its own folder.
#![forbid(unsafe_code)]

mod mock;

use std::process::ExitCode;

fn main() -> ExitCode {
    perf_worker::worker::main(&mock::Mock)
}
