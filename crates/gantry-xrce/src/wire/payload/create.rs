//! CREATE: a client asks for an object.

use super::{Payload, sealed::Sealed};
use crate::wire::{Object, ObjectKind, ObjectRequest, Reader, SubmessageId, Writer};

/// A client asks for an object. The flags REUSE and REPLACE determine the result if the object exists already.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Create<'a> {
    /// The request, and the identifier of the object.
    pub request: ObjectRequest,
    /// The object.
    pub object: Object<'a>,
}

impl Sealed for Create<'_> {}

impl<'a> Payload<'a> for Create<'a> {
    const ID: SubmessageId = SubmessageId::CREATE;

    fn read(reader: &mut Reader<'a>) -> Self {
        let request = ObjectRequest::read(reader);
        let kind = ObjectKind(reader.u8());
        Self { request, object: Object::read(reader, kind) }
    }

    fn write(&self, writer: &mut Writer<'_>) {
        self.request.write(writer);
        self.object.write(writer);
    }
}
