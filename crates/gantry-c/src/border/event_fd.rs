//! A file descriptor that a waker makes readable. It announces QoS events, changes of the graph and triggers; samples
//! have other descriptors.

use crate::border::failure::{Failure, Result};
use rustix::event::{EventfdFlags, eventfd};
use std::{
    os::fd::{AsRawFd, OwnedFd},
    sync::Arc,
    task::{Wake, Waker},
};

/// An `eventfd`. It is readable from a wake until [`EventFd::drain`] is called.
pub struct EventFd(OwnedFd);

impl EventFd {
    /// # Errors
    /// The descriptor could not be made.
    pub fn new() -> Result<Arc<EventFd>> {
        let made = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        let made = made.map_err(|error| Failure::error(format_args!("no event descriptor could be made: {error}")))?;
        Ok(Arc::new(EventFd(made)))
    }

    pub fn number(&self) -> i32 {
        self.0.as_raw_fd()
    }

    pub fn waker(self: &Arc<EventFd>) -> Waker {
        Waker::from(self.clone())
    }

    /// Makes the descriptor unreadable until the next wake.
    pub fn drain(&self) {
        let mut count = [0; 8];
        let _ = rustix::io::read(&self.0, &mut count); // fails if the descriptor is not readable
    }
}

impl Wake for EventFd {
    fn wake(self: Arc<EventFd>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<EventFd>) {
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes()); // fails only after 2^64 - 2 wakes, while readable
    }
}
