//! The submessage DATA carries a sample, a request or a reply to a client.

use super::{Payload, sealed::Sealed};
use crate::wire::{ObjectRequest, Reader, SubmessageId, Writer};

/// Data for a client: a sample, a request or a reply. [`Flags::data_format`](crate::wire::Flags::data_format) is
/// its format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data<'a> {
    /// The identifiers of the READ_DATA that asked for the data, and of the object.
    pub request: ObjectRequest,
    /// The data. In the format DATA, it is the message in CDR without an encapsulation header.
    pub data: &'a [u8],
}

impl Sealed for Data<'_> {}

impl<'a> Payload<'a> for Data<'a> {
    const ID: SubmessageId = SubmessageId::DATA;

    fn read(reader: &mut Reader<'a>) -> Self {
        Self { request: ObjectRequest::read(reader), data: reader.take(reader.left_bytes()) }
    }

    fn write(&self, writer: &mut Writer<'_>) {
        self.request.write(writer);
        writer.put(self.data);
    }
}
