//! HEARTBEAT: the messages that the sender of a reliable stream still has.

use super::{Payload, sealed::Sealed};
use crate::wire::{Reader, StreamId, SubmessageId, Writer};

/// The messages that the sender of a reliable stream still has. A HEARTBEAT is sent outside of streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heartbeat {
    /// The sequence number of the first message that is not acknowledged.
    pub first_unacknowledged: u16,
    /// The last sequence number that was sent.
    pub last_sent: u16,
    /// The stream.
    pub stream: StreamId,
}

impl Sealed for Heartbeat {}

impl<'a> Payload<'a> for Heartbeat {
    const ID: SubmessageId = SubmessageId::HEARTBEAT;

    fn read(reader: &mut Reader<'a>) -> Self {
        Self { first_unacknowledged: reader.u16(), last_sent: reader.u16(), stream: StreamId(reader.u8()) }
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u16(self.first_unacknowledged);
        writer.u16(self.last_sent);
        writer.u8(self.stream.0);
    }
}
