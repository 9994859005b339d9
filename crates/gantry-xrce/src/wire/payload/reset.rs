//! RESET: all streams start again, empty.

use super::{Payload, sealed::Sealed};
use crate::wire::{Reader, SubmessageId, Writer};

/// All streams start again, empty. eProsima's client never sends a RESET.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reset;

impl Sealed for Reset {}

impl<'a> Payload<'a> for Reset {
    const ID: SubmessageId = SubmessageId::RESET;

    fn read(_reader: &mut Reader<'a>) -> Self {
        Self
    }

    fn write(&self, _writer: &mut Writer<'_>) {}
}
