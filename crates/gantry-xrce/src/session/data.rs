//! Data that is written into a stream, and refusals.

use crate::{
    stream::{Refused, SlotWriter},
    wire::{ObjectRequest, SubmessageId},
};

/// The bytes before the data: the submessage's header, the request and the object.
pub const DATA_HEADER_BYTES: usize = 8;
const LITTLE_ENDIAN: u8 = 0x01;

/// The reason for which nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// There is no session.
    #[error("the session is not connected; write when it is")]
    NotConnected,
    /// The stream refuses it.
    #[error(transparent)]
    Refused(#[from] Refused),
}

/// The beginning of a WRITE_DATA or DATA with `length` bytes of data. A length of 0 means that the data ends with the
/// last fragment.
pub(super) fn data_header(id: SubmessageId, request: ObjectRequest, length: usize) -> [u8; DATA_HEADER_BYTES] {
    let [low, high] = u16::try_from(ObjectRequest::BYTES + length).unwrap_or(0).to_le_bytes();
    let [[r0, r1], [o0, o1]] = [request.request.0.to_be_bytes(), request.object.0.to_be_bytes()];
    [id.0, LITTLE_ENDIAN, low, high, r0, r1, o0, o1]
}

/// Room for data in a slot. Dropping it leaves the stream unchanged.
#[derive(Debug)]
#[must_use = "the stream sends what is committed"]
pub struct DataSlot<'a> {
    slot: SlotWriter<'a>,
    id: SubmessageId,
    request: ObjectRequest,
}

impl<'a> DataSlot<'a> {
    pub(super) fn new(slot: SlotWriter<'a>, id: SubmessageId, request: ObjectRequest) -> Self {
        Self { slot, id, request }
    }

    /// The request, and the object.
    pub fn request(&self) -> ObjectRequest {
        self.request
    }

    /// The room for the data that `begin` reserved, and [`DATA_HEADER_BYTES`] before it. The bytes before the data may
    /// be used while the data is built at an aligned address; [`Self::commit`] writes them.
    pub fn bytes(&mut self) -> &mut [u8] {
        self.slot.bytes()
    }

    /// Keeps the first `length` bytes of data for sending.
    pub fn commit(mut self, length: usize) {
        let header = data_header(self.id, self.request, length);
        if let Some(room) = self.slot.bytes().first_chunk_mut() {
            *room = header;
        }
        self.slot.commit(DATA_HEADER_BYTES + length);
    }
}
