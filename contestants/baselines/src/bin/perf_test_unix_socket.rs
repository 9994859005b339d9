//! The worker program of the baseline `unix-socket`: Unix-domain stream sockets.

use std::process::ExitCode;

fn main() -> ExitCode {
    perf_worker::worker::main(&baselines::UNIX_SOCKET)
}
