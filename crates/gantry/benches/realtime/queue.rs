//! The interface of a carrier, which brings messages from one thread to another.
//!
//! All carriers keep the same number of messages, and no sender is ahead of its reader by more than this number. So
//! no message is lost, and no sender has to wait for room, which would be measured.

use crate::{Result, message::Message};
use std::time::Duration;

/// The time limit of a wait for a message: it is reached only if a thread hangs.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// The side that sends.
pub trait Sends: Send {
    /// Writes a message in place and sends it; wakes the reader if it sleeps.
    fn send(&mut self, number: u64, sent: u64) -> Result<()>;
}

/// The side that reads.
pub trait Receives: Send {
    /// Takes the next message, if there is one, reads it in place and gives its memory back; returns the number of the
    /// message and the time of sending.
    fn take(&mut self) -> Result<Option<(u64, u64)>>;

    /// Sleeps until there is a message to take, up to [`PATIENCE`]; may end earlier.
    fn wait(&mut self) -> Result<()>;
}

/// Reads a message; returns its number and the time of sending.
#[inline(always)]
pub fn read(message: &Message) -> Result<(u64, u64)> {
    message.read().ok_or_else(|| "a message's words do not agree: it was overwritten while it was read".into())
}

/// The error of a message for which there is no room.
#[cold]
pub fn full() -> crate::Error {
    "there is no room for a message: its reader is too far behind".into()
}
