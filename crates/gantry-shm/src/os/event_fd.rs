//! A descriptor that is readable while a subscription has something to take, for programs that wait in epoll or poll.
//!
//! The control thread makes the descriptor readable; the subscription makes it unreadable again when there is
//! nothing more to take.

use crate::error::{Error, Result};
use rustix::event::{EventfdFlags, eventfd};
use std::{
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::*},
    },
};

/// An event descriptor, with a flag whether it is readable.
#[derive(Clone)]
pub(crate) struct EventFd {
    descriptor: Arc<OwnedFd>,
    /// W: the control thread sets the flag after it makes the descriptor readable, and the subscription clears the
    /// flag after it has made the descriptor unreadable.
    is_set: Arc<AtomicBool>,
}

impl EventFd {
    /// Creates a descriptor that is not readable yet.
    pub(crate) fn new() -> Result<EventFd> {
        let descriptor = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|e| Error::system("make an event descriptor", e))?;
        Ok(EventFd { descriptor: Arc::new(descriptor), is_set: Arc::new(AtomicBool::new(false)) })
    }

    /// The descriptor for epoll or poll.
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }

    /// Whether the flag was set and not cleared since.
    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        self.is_set.load(Acquire)
    }

    /// For the control thread, while the flag is not set: makes the descriptor readable. Makes one system call.
    pub(crate) fn set(&self) {
        // The counter cannot overflow: it is 0 or 1.
        let _ = rustix::io::write(&*self.descriptor, &1u64.to_ne_bytes());
        self.is_set.store(true, Release);
    }

    /// Makes the descriptor unreadable, for the subscription. Returns whether the descriptor was readable; if so, the
    /// caller wakes the control thread, which makes it readable again if there is more to take. Makes one system call
    /// if the descriptor was readable.
    pub(crate) fn clear(&self) -> bool {
        let was_set = self.is_set();
        if was_set {
            // The read comes first: while the flag `is_set` is true, the control thread does not set the descriptor.
            let _ = rustix::io::read(&*self.descriptor, &mut [0u8; 8]);
            self.is_set.store(false, Release);
        }
        was_set
    }
}
