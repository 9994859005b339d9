//! FRAGMENT: a part of a submessage.

use super::{Payload, sealed::Sealed};
use crate::wire::{Reader, SubmessageId, Writer};

/// A part of a submessage, including its header. [`Flags::LAST_FRAGMENT`](crate::wire::Flags::LAST_FRAGMENT) marks
/// the last part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment<'a> {
    /// The part.
    pub bytes: &'a [u8],
}

impl Sealed for Fragment<'_> {}

impl<'a> Payload<'a> for Fragment<'a> {
    const ID: SubmessageId = SubmessageId::FRAGMENT;

    fn read(reader: &mut Reader<'a>) -> Self {
        Self { bytes: reader.take(reader.left_bytes()) }
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.put(self.bytes);
    }
}
