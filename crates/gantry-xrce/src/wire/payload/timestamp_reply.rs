//! TIMESTAMP_REPLY: the answer to TIMESTAMP.

use super::{Payload, sealed::Sealed};
use crate::wire::{Reader, SubmessageId, Time, Writer};

/// The answer to TIMESTAMP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimestampReply {
    /// The agent's time when the reply was sent.
    pub transmit: Time,
    /// The agent's time when the request arrived.
    pub receive: Time,
    /// The client's time from the request.
    pub originate: Time,
}

impl Sealed for TimestampReply {}

impl<'a> Payload<'a> for TimestampReply {
    const ID: SubmessageId = SubmessageId::TIMESTAMP_REPLY;

    fn read(reader: &mut Reader<'a>) -> Self {
        Self { transmit: Time::read(reader), receive: Time::read(reader), originate: Time::read(reader) }
    }

    fn write(&self, writer: &mut Writer<'_>) {
        self.transmit.write(writer);
        self.receive.write(writer);
        self.originate.write(writer);
    }
}
