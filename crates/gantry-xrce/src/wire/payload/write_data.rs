//! WRITE_DATA: a client publishes a sample, or sends a request or a reply.

use super::{Payload, sealed::Sealed};
use crate::wire::{ObjectRequest, Reader, SubmessageId, Writer};

/// A client publishes a sample, or sends a request or a reply.
/// [`Flags::data_format`](crate::wire::Flags::data_format) is the format of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteData<'a> {
    /// The request, and the data writer, requester or replier.
    pub request: ObjectRequest,
    /// The data. In the format DATA, it is the message in CDR without an encapsulation header.
    pub data: &'a [u8],
}

impl Sealed for WriteData<'_> {}

impl<'a> Payload<'a> for WriteData<'a> {
    const ID: SubmessageId = SubmessageId::WRITE_DATA;

    fn read(reader: &mut Reader<'a>) -> Self {
        Self { request: ObjectRequest::read(reader), data: reader.take(reader.left_bytes()) }
    }

    fn write(&self, writer: &mut Writer<'_>) {
        self.request.write(writer);
        writer.put(self.data);
    }
}
