//! DELETE: a client deletes an object, or its session.

use super::{Payload, sealed::Sealed};
use crate::wire::{ObjectRequest, Reader, SubmessageId, Writer};

/// A client deletes an object. If the object is of the kind CLIENT, the client ends its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delete {
    /// The request, and the object.
    pub request: ObjectRequest,
}

impl Sealed for Delete {}

impl<'a> Payload<'a> for Delete {
    const ID: SubmessageId = SubmessageId::DELETE;

    fn read(reader: &mut Reader<'a>) -> Self {
        Self { request: ObjectRequest::read(reader) }
    }

    fn write(&self, writer: &mut Writer<'_>) {
        self.request.write(writer);
    }
}
