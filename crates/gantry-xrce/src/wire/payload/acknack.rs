//! ACKNACK: what came in a reliable stream, and what is missing.

use super::{Payload, sealed::Sealed};
use crate::wire::{Reader, StreamId, SubmessageId, Writer};

/// The messages of a reliable stream that came, and those that are missing. It is outside of streams itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckNack {
    /// The first sequence number that has not come.
    pub first_unacknowledged: u16,
    /// Bit _i_ says that `first_unacknowledged + i` is missing. It is big endian in every message.
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
