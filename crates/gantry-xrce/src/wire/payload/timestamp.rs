//! TIMESTAMP: a client asks for the agent's time.

use super::{Payload, sealed::Sealed};
use crate::wire::{Reader, SubmessageId, Time, Writer};

/// A client asks for the agent's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamp {
    /// The client's time when the request was sent.
    pub transmit: Time,
    /// The number of zero bytes after the time, which make the request as long as its reply. The standard has no
    /// such bytes.
    pub padding_bytes: usize,
}

impl Sealed for Timestamp {}

impl<'a> Payload<'a> for Timestamp {
    const ID: SubmessageId = SubmessageId::TIMESTAMP;

    fn read(reader: &mut Reader<'a>) -> Self {
        Self { transmit: Time::read(reader), padding_bytes: reader.left_bytes() }
    }

    fn write(&self, writer: &mut Writer<'_>) {
        self.transmit.write(writer);
        writer.zeros(self.padding_bytes);
    }
}
