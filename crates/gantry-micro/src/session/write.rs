//! Writes messages into the session. A message is built directly in a slot of the stream, or copied into it.

use super::{
    entity::{Entity, EntityState},
    memory::Session,
};
use crate::error::PublishError;
use core::cell::Cell;
use gantry_cdr::{BODY_ALIGN, Message, Shape};
use gantry_xrce::{
    session::{DATA_HEADER_BYTES, DataSlot, WriteError},
    wire::{ObjectKind, RequestId},
};

/// The parameters for writing a message: the sending object, its entity, and the session.
pub(crate) struct Writing<'s, 'a, 'e> {
    session: &'s mut Session<'a>,
    entity: &'s Entity<'e>,
    kind: ObjectKind,
    /// The bytes before the message. In a response, these are the identity of the request.
    prefix: &'s [u8],
}

impl<'s, 'a, 'e> Writing<'s, 'a, 'e> {
    /// Begins to write a message for the entity's object of this kind. `prefix` has the bytes before the message.
    pub fn new(entity: &'s Entity<'e>, kind: ObjectKind, session: &'s mut Session<'a>, prefix: &'s [u8]) -> Self {
        Self { session, entity, kind, prefix }
    }

    /// Builds a message in the stream's slot.
    pub fn in_place<M: Message>(
        self,
        shape: impl Shape<M>,
        fill: impl FnOnce(&mut M::View<&mut [u8]>),
    ) -> Result<RequestId, PublishError> {
        let length = M::shape_bytes(shape.clone())?;
        let start = DATA_HEADER_BYTES + self.prefix.len();
        let (prefix, entity) = (self.prefix, self.entity);
        let mut slot = self.begin(length)?;
        let bytes = slot.bytes();
        // The message is built at an aligned address. This address is up to 7 bytes before the final place of the
        // message, in the room of the data header.
        let begin = start.saturating_sub(bytes.as_ptr().addr().wrapping_add(start) % BODY_ALIGN);
        let mut view = M::build(bytes.get_mut(begin..begin + length).unwrap_or_default(), shape)?;
        fill(&mut view);
        drop(view);
        move_up(bytes, begin, start, length);
        Ok(commit(slot, entity, prefix, length))
    }

    /// Serialises a message into a slot of the stream.
    pub fn message<M: Message>(self, message: &M) -> Result<RequestId, PublishError> {
        let length = message.body_bytes()?;
        let start = DATA_HEADER_BYTES + self.prefix.len();
        let (prefix, entity) = (self.prefix, self.entity);
        let mut slot = self.begin(length)?;
        message.write_body(slot.bytes().get_mut(start..start + length).unwrap_or_default())?;
        Ok(commit(slot, entity, prefix, length))
    }

    /// Copies a serialised message into the stream, in fragments if the message is longer than a slot.
    pub fn bytes(self, body: &[u8]) -> Result<RequestId, PublishError> {
        self.check()?;
        let Self { session, entity, kind, prefix } = self;
        let written = session.write(entity.qos().stream(), entity.object(kind), prefix, body);
        let request = written.map_err(|error| refused(entity, error, prefix))?;
        entity.count(|counts| &mut counts.sent);
        Ok(request)
    }

    fn check(&self) -> Result<(), PublishError> {
        match self.entity.state() {
            EntityState::Waiting => Err(PublishError::NotConnected),
            EntityState::Refused(status) => Err(PublishError::Refused(status)),
            EntityState::Ready => Ok(()),
        }
    }
}

impl<'s> Writing<'s, '_, '_> {
    fn begin(self, length: usize) -> Result<DataSlot<'s>, PublishError> {
        self.check()?;
        let Self { session, entity, kind, prefix } = self;
        let slot = session.begin_write(entity.qos().stream(), entity.object(kind), prefix.len() + length);
        slot.map_err(|error| refused(entity, error, prefix))
    }
}

fn refused(entity: &Entity<'_>, error: WriteError, prefix: &[u8]) -> PublishError {
    if let WriteError::Refused(refused) = error {
        entity.count_refused(refused);
    }
    PublishError::new(error, prefix.len())
}

/// Commits the slot, in which a message of `length` bytes follows the prefix.
fn commit(mut slot: DataSlot<'_>, entity: &Entity<'_>, prefix: &[u8], length: usize) -> RequestId {
    let before = DATA_HEADER_BYTES..DATA_HEADER_BYTES + prefix.len();
    if let Some(room) = slot.bytes().get_mut(before) {
        room.copy_from_slice(prefix);
    }
    let request = slot.request().request;
    slot.commit(prefix.len() + length);
    entity.count(|counts| &mut counts.sent);
    request
}

/// Moves `length` bytes from the offset `from` to the offset `to`, which is less than 8 bytes higher. If `MTU` is a
/// multiple of 8, the offsets are usually equal. `copy_within` would be faster, but its `memmove` would be the longest
/// function in the firmware.
fn move_up(bytes: &mut [u8], from: usize, to: usize, length: usize) {
    if from == to {
        return;
    }
    let bytes = Cell::from_mut(bytes).as_slice_of_cells();
    for index in (0..length).rev() {
        if let (Some(source), Some(target)) = (bytes.get(from + index), bytes.get(to + index)) {
            target.set(source.get());
        }
    }
}
