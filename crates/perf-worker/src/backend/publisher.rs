//! Publishers, and the messages that they send.

use super::{Matched, Stamp};

/// Sends messages.
pub trait Publisher: Matched {
    /// Sends one message. Creates or loans the message and lets `draft` write the payload. As the last step before
    /// sending, gets the stamp from `draft` and writes the stamp into the message.
    ///
    /// # Errors
    /// The reason, as a sentence, if the message was not sent. The run continues with the next message.
    fn publish(&mut self, draft: &mut dyn Draft) -> Result<Sent, String>;
}

/// The way in which a message was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Whether the publisher wrote the message directly into the middleware's memory (a loan), so that publishing
    /// copied nothing.
    pub loaned: bool,
    /// The bytes of the message on the wire; 0 if the number is not known, or there is no wire.
    pub wire_bytes: u64,
    /// With [`RunSpec::phases`](crate::run_spec::RunSpec::phases), the time when the message was serialised, ns of
    /// CLOCK_MONOTONIC; `None` if the back end cannot observe this moment.
    pub serialised_ns: Option<i64>,
}

/// A message that is about to be sent.
pub trait Draft {
    /// Writes the payload according to the option `--touch`. Not called for text messages, whose bytes must remain
    /// valid characters.
    fn write(&mut self, payload: &mut [u8]);

    /// Reads the clock and returns the stamp of the message. Must be the last call before sending. The time in the
    /// stamp is 0 in probes (messages before the start), and in all messages of a publisher with [another
    /// clock](Matched::clock).
    fn stamp(&mut self) -> Stamp;
}
