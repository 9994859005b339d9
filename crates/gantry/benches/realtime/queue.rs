//! The interface of a carrier, which brings messages from one thread to another.
//!
//! All carriers keep the same number of messages, and no sender is further ahead of its reader than this number. So no
//! message is lost, and no sender has to wait for room, which would be measured.

use crate::{Result, message::Message};
use std::time::Duration;

/// The time limit of a wait for a message, which is reached only if a thread hangs.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// The side that sends.
pub trait Sends: Send {
    /// Writes a message in place, sends it, and wakes the reader if it sleeps.
    fn send(&mut self, number: u64, sent: u64) -> Result<()>;
}

/// The side that reads.
pub trait Receives: Send {
    /// Takes the next message, if there is one, reads it in place and releases its memory. Returns the number of the
    /// message and the time of sending.
    fn take(&mut self) -> Result<Option<(u64, u64)>>;

    /// Sleeps until there is a message to take, at most for [`PATIENCE`]. The wait may end earlier.
    fn wait(&mut self) -> Result<()>;
}

/// Reads a message; returns its number and the time of sending.
#[inline(always)]
pub fn read(message: &Message) -> Result<(u64, u64)> {
    message.read().ok_or_else(|| "a message's words do not agree: it was overwritten while it was read".into())
}

/// The error if there is no room for a message.
#[cold]
pub fn full() -> crate::Error {
    "there is no room for a message: its reader is too far behind".into()
}
