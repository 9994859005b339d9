//! The interface of a carrier: it brings messages from one thread to another.
//!
//! All carriers keep equally many messages, and none is sent more than that ahead of its reader, so that no message is lost and no
//! carrier's own way to wait for room is measured.

use crate::{Result, message::Message};
use std::time::Duration;

/// Longer than any message takes; only a hang gets there.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// The side that sends.
pub trait Sends: Send {
    /// Writes a message where it is to lie and hands it over; wakes the reader if it sleeps.
    fn send(&mut self, number: u64, sent: u64) -> Result<()>;
}

/// The side that reads.
pub trait Receives: Send {
    /// Takes the next message, if there is one, reads it where it lies and gives its memory back: its number, and when it was
    /// sent.
    fn take(&mut self) -> Result<Option<(u64, u64)>>;

    /// Sleeps until there is something to take, up to [`PATIENCE`]; may end without.
    fn wait(&mut self) -> Result<()>;
}

/// The number of a message, and when it was sent.
#[inline(always)]
pub fn read(message: &Message) -> Result<(u64, u64)> {
    message.read().ok_or_else(|| "a message's words do not agree: it was overwritten while it was read".into())
}

/// The error of a message that should have had room.
#[cold]
pub fn full() -> crate::Error {
    "there is no room for a message: its reader is too far behind".into()
}
