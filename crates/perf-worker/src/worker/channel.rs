//! The channel of a worker's reports: a pipe to the coordinator (the process `perf_test`). The worker inherits the
//! pipe's writing end as descriptor 3.
//!
//! Reports do not use standard output, because middlewares print there. Invariants of the unsafe code:
//!
//! 1. The process takes the descriptor once.
//! 2. The parent process opened the descriptor for this worker, so no other part of the process owns it.
#![expect(unsafe_code, reason = "an inherited descriptor has only its number")]

use std::fs::File;
use std::io::Write;
use std::os::fd::{FromRawFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::{FdFlags, fcntl_setfd};

use super::protocol::{REPORTS_FD, Report};

/// The writing end of the pipe for reports.
#[derive(Debug)]
pub struct Channel(File);

impl Channel {
    /// Takes the inherited descriptor and makes it close-on-exec, so that programs that the middleware starts do not
    /// inherit it.
    ///
    /// # Errors
    /// The reason, as a sentence, if there is no such pipe because `perf_test` did not start this process, or if the
    /// descriptor was already taken.
    pub fn inherit() -> Result<Channel, String> {
        static TAKEN: AtomicBool = AtomicBool::new(false);
        let path = format!("/proc/self/fd/{REPORTS_FD}");
        let is_pipe = std::fs::read_link(path).is_ok_and(|target| target.to_string_lossy().starts_with("pipe:"));
        if !is_pipe || TAKEN.swap(true, Ordering::Relaxed) {
            return Err(format!(
                "a worker reports over a pipe with the number {REPORTS_FD}, and this process has no such pipe: only \
                 perf_test starts workers, as `perf_test -c NAME`"
            ));
        }
        // SAFETY: the check above shows that the descriptor is open, and it belongs to this value alone (invariants 1
        // and 2).
        let file = unsafe { File::from_raw_fd(REPORTS_FD as RawFd) };
        fcntl_setfd(&file, FdFlags::CLOEXEC)
            .map_err(|error| format!("the pipe for reports cannot be used: {error}"))?;
        Ok(Channel(file))
    }

    /// Sends one report.
    ///
    /// # Errors
    /// The reason, as a sentence, if the coordinator has exited.
    pub fn send(&mut self, report: &Report) -> Result<(), String> {
        let line = serde_json::to_vec(report).map_err(std::io::Error::from);
        let sent = line.and_then(|mut line| {
            line.push(b'\n');
            self.0.write_all(&line)
        });
        sent.map_err(|error| format!("a worker cannot report: {error}"))
    }
}
