//! READ_DATA: a client asks for data.

use super::{Payload, sealed::Sealed};
use crate::wire::{DataFormat, ObjectRequest, Reader, StreamId, SubmessageId, Writer};

/// A client asks for data of a data reader, requester or replier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadData<'a> {
    /// The request, and the object. The DATA that follow repeat both.
    pub request: ObjectRequest,
    /// The stream in which the agent has to send DATA.
    pub stream: StreamId,
    /// The format of DATA.
    pub format: DataFormat,
    /// A filter of contents.
    pub content_filter: Option<&'a str>,
    /// The amount of data, and its rate. Without this field, the agent sends one sample.
    pub delivery: Option<DeliveryControl>,
}

impl Sealed for ReadData<'_> {}

impl<'a> Payload<'a> for ReadData<'a> {
    const ID: SubmessageId = SubmessageId::READ_DATA;

    fn read(reader: &mut Reader<'a>) -> Self {
        Self {
            request: ObjectRequest::read(reader),
            stream: StreamId(reader.u8()),
            format: DataFormat(reader.u8()),
            content_filter: reader.optional(Reader::text),
            delivery: reader.optional(DeliveryControl::read),
        }
    }

    fn write(&self, writer: &mut Writer<'_>) {
        self.request.write(writer);
        writer.put(&[self.stream.0, self.format.0]);
        writer.optional(self.content_filter, Writer::text);
        writer.optional(self.delivery, |writer, delivery| delivery.write(writer));
    }
}

/// The amount of data that the agent sends, and its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryControl {
    /// The number of samples. 0 cancels an earlier READ_DATA; [`UNLIMITED`](Self::UNLIMITED) means any number.
    pub max_samples: u16,
    /// The duration of the delivery in seconds. 0 means no limit.
    pub max_elapsed_s: u16,
    /// The largest rate, in bytes per second. 0 means no limit.
    pub max_bytes_per_s: u16,
    /// The shortest time between two samples, in milliseconds.
    pub min_pace_ms: u16,
}

impl DeliveryControl {
    /// Samples without end.
    pub const UNLIMITED: u16 = 0xffff;

    fn read(reader: &mut Reader<'_>) -> Self {
        Self {
            max_samples: reader.u16(),
            max_elapsed_s: reader.u16(),
            max_bytes_per_s: reader.u16(),
            min_pace_ms: reader.u16(),
        }
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u16(self.max_samples);
        writer.u16(self.max_elapsed_s);
        writer.u16(self.max_bytes_per_s);
        writer.u16(self.min_pace_ms);
    }
}
