//! ACKNACK: the messages of a reliable stream that arrived, and the missing ones.

use super::{Payload, sealed::Sealed};
use crate::wire::{Reader, StreamId, SubmessageId, Writer};

/// The messages of a reliable stream that arrived, and the missing ones. An ACKNACK is sent outside of streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckNack {
    /// The sequence number of the first message that has not arrived.
    pub first_unacknowledged: u16,
    /// Bit _i_ is set if the message `first_unacknowledged + i` is missing. The bitmap is always big endian.
    pub missing: u16,
    /// The stream.
    pub stream: StreamId,
}

impl Sealed for AckNack {}

impl<'a> Payload<'a> for AckNack {
    const ID: SubmessageId = SubmessageId::ACKNACK;

    fn read(reader: &mut Reader<'a>) -> Self {
        Self {
            first_unacknowledged: reader.u16(),
            missing: u16::from_be_bytes(reader.array()),
            stream: StreamId(reader.u8()),
        }
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u16(self.first_unacknowledged);
        writer.put(&self.missing.to_be_bytes());
        writer.u8(self.stream.0);
    }
}
