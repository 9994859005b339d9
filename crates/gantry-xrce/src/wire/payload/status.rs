//! STATUS: the answer to CREATE, DELETE and READ_DATA.

use super::{Payload, sealed::Sealed};
use crate::wire::{ObjectReply, Reader, SubmessageId, Writer};

/// The answer to CREATE and DELETE, and to a READ_DATA that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// The request, and its result.
    pub reply: ObjectReply,
}

impl Sealed for Status {}

impl<'a> Payload<'a> for Status {
    const ID: SubmessageId = SubmessageId::STATUS;

    fn read(reader: &mut Reader<'a>) -> Self {
        Self { reply: ObjectReply::read(reader) }
    }

    fn write(&self, writer: &mut Writer<'_>) {
        self.reply.write(writer);
    }
}
