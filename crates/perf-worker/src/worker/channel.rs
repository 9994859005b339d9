//! The channel of a worker's reports: a pipe to the coordinator, whose end the worker inherits as descriptor 3.
//!
//! Standard output is not used, because middlewares print there. This is the only file of the crate with unsafe code.
//! Invariants:
//!
//! 1. The descriptor is taken once in the life of the process.
//! 2. The parent process opened it for this worker, so no other part of the process owns the descriptor.
#![expect(unsafe_code, reason = "an inherited descriptor has only its number")]

use std::fs::File;
use std::io::Write;
use std::os::fd::{FromRawFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::{FdFlags, fcntl_setfd};

use super::protocol::{REPORTS_FD, Report};

/// The channel.
#[derive(Debug)]
pub struct Channel(File);

impl Channel {
    /// Takes the inherited descriptor and makes it close-on-exec, so that programs that the middleware starts do not
    /// inherit it.
    ///
    /// # Errors
    /// The reason, as a sentence, if there is no such pipe because another program than `perf_test` started this
    /// process, or if the descriptor was taken before.
    pub fn inherit() -> Result<Channel, String> {
        static TAKEN: AtomicBool = AtomicBool::new(false);
        let path = format!("/proc/self/fd/{REPORTS_FD}");
        let is_pipe = std::fs::read_link(path).is_ok_and(|target| target.to_string_lossy().starts_with("pipe:"));
        if !is_pipe || TAKEN.swap(true, Ordering::Relaxed) {
            return Err(format!(
                "a worker reports over a pipe with the number {REPORTS_FD}, and there is none: only perf_test starts \
                 workers, as `perf_test -c NAME`"
            ));
        }
        // SAFETY: the descriptor is open, as just seen, and belongs to this value alone (invariants 1 and 2).
        let file = unsafe { File::from_raw_fd(REPORTS_FD as RawFd) };
        fcntl_setfd(&file, FdFlags::CLOEXEC)
            .map_err(|error| format!("the pipe for reports cannot be used: {error}"))?;
        Ok(Channel(file))
    }

    /// Sends one report.
    ///
    /// # Errors
    /// The reason, as a sentence, if the coordinator has gone.
    pub fn send(&mut self, report: &Report) -> Result<(), String> {
        let line = serde_json::to_vec(report).map_err(std::io::Error::from);
        let sent = line.and_then(|mut line| {
            line.push(b'\n');
            self.0.write_all(&line)
        });
        sent.map_err(|error| format!("a worker cannot report: {error}"))
    }
}
