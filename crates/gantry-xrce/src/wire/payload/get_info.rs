//! GET_INFO: a question about an object.

use super::{Payload, sealed::Sealed};
use crate::wire::{InfoMask, ObjectRequest, Reader, SubmessageId, Writer};

/// A question about an object. If the object is [`ObjectId::AGENT`](crate::wire::ObjectId::AGENT), the question is
/// a ping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetInfo {
    /// The request, and the object.
    pub request: ObjectRequest,
    /// The parts of the information that the question asks for.
    pub mask: InfoMask,
}

impl Sealed for GetInfo {}

impl<'a> Payload<'a> for GetInfo {
    const ID: SubmessageId = SubmessageId::GET_INFO;

    fn read(reader: &mut Reader<'a>) -> Self {
        Self { request: ObjectRequest::read(reader), mask: InfoMask(reader.u32()) }
    }

    fn write(&self, writer: &mut Writer<'_>) {
        self.request.write(writer);
        writer.u32(self.mask.0);
    }
}
