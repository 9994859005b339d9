//! A descriptor that is readable while a subscription has something to take, for programs that wait in epoll or poll.
//!
//! The control thread sets it; the subscription clears it when there is nothing more to take.

use crate::error::{Error, Result};
use rustix::event::{EventfdFlags, eventfd};
use std::{
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::*},
    },
};

/// The descriptor, and whether it is readable.
#[derive(Clone)]
pub(crate) struct EventFd {
    descriptor: Arc<OwnedFd>,
    /// W: the control thread sets it after the descriptor, the subscription clears it after that.
    is_set: Arc<AtomicBool>,
}

impl EventFd {
    /// Not readable yet.
    pub(crate) fn new() -> Result<EventFd> {
        let descriptor = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|e| Error::system("make an event descriptor", e))?;
        Ok(EventFd { descriptor: Arc::new(descriptor), is_set: Arc::new(AtomicBool::new(false)) })
    }

    /// The descriptor for epoll or poll.
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }

    /// Whether it was set and not cleared since.
    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        self.is_set.load(Acquire)
    }

    /// Control thread, while it is not set: makes it readable. One system call.
    pub(crate) fn set(&self) {
        // It cannot be full: its count is 0 or 1.
        let _ = rustix::io::write(&*self.descriptor, &1u64.to_ne_bytes());
        self.is_set.store(true, Release);
    }

    /// Subscription: makes it unreadable and returns whether it was set; then the caller wakes the control thread,
    /// which may set it again. One system call if it was set.
    pub(crate) fn clear(&self) -> bool {
        let was_set = self.is_set();
        if was_set {
            // The read first: while `is_set` holds, the control thread does not set it.
            let _ = rustix::io::read(&*self.descriptor, &mut [0u8; 8]);
            self.is_set.store(false, Release);
        }
        was_set
    }
}
