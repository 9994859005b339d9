//! INFO: the answer to GET_INFO.

use super::{Payload, sealed::Sealed};
use crate::wire::{ObjectInfo, ObjectReply, Reader, SubmessageId, Writer};

/// The answer to GET_INFO.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Info<'a> {
    /// The request, and its result.
    pub reply: ObjectReply,
    /// The information that was asked for.
    pub info: ObjectInfo<'a>,
}

impl Sealed for Info<'_> {}

impl<'a> Payload<'a> for Info<'a> {
    const ID: SubmessageId = SubmessageId::INFO;

    fn read(reader: &mut Reader<'a>) -> Self {
        Self { reply: ObjectReply::read(reader), info: ObjectInfo::read(reader) }
    }

    fn write(&self, writer: &mut Writer<'_>) {
        self.reply.write(writer);
        self.info.write(writer);
    }
}
