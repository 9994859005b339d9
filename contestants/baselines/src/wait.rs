//! Waits for file descriptors.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::Timespec;
use rustix::io::Errno;

/// Waits until one of the file descriptors is ready, at most `timeout`. The call does not allocate if there is only
/// one.
///
/// # Errors
/// The kernel's error, as a sentence.
pub fn wait_for<'a>(
    mut files: impl ExactSizeIterator<Item = BorrowedFd<'a>>,
    ready: PollFlags,
    timeout: Duration,
) -> Result<(), String> {
    let timeout = Timespec { tv_sec: timeout.as_secs() as i64, tv_nsec: i64::from(timeout.subsec_nanos()) };
    let polled = match (files.len(), files.next()) {
        (1, Some(file)) => poll(&mut [PollFd::from_borrowed_fd(file, ready)], Some(&timeout)),
        (_, first) => {
            let files = first.into_iter().chain(files);
            poll(&mut files.map(|file| PollFd::from_borrowed_fd(file, ready)).collect::<Vec<_>>(), Some(&timeout))
        }
    };
    match polled {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(format!("cannot wait for a file: {error}")),
    }
}
