//! Data that is written into a stream, and the errors of writing.

use crate::{
    stream::{Refused, SlotWriter},
    wire::{ObjectRequest, SubmessageId},
};

/// The number of bytes before the data: the submessage's header, the request and the object.
pub const DATA_HEADER_BYTES: usize = 8;
const LITTLE_ENDIAN: u8 = 0x01;

/// The reason why nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// There is no session.
    #[error("the session is not connected; write when it is")]
    NotConnected,
    /// The stream refuses the data.
    #[error(transparent)]
    Refused(#[from] Refused),
}

/// The header of a WRITE_DATA or DATA with `length` bytes of data. If the length does not fit in the length field, the
/// field is 0; the data then ends with the last fragment.
pub(super) fn data_header(id: SubmessageId, request: ObjectRequest, length: usize) -> [u8; DATA_HEADER_BYTES] {
    let [low, high] = u16::try_from(ObjectRequest::BYTES + length).unwrap_or(0).to_le_bytes();
    let [[r0, r1], [o0, o1]] = [request.request.0.to_be_bytes(), request.object.0.to_be_bytes()];
    [id.0, LITTLE_ENDIAN, low, high, r0, r1, o0, o1]
}

/// Reserved room for data in a slot. If this value is dropped without a commit, the stream stays unchanged.
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

    /// The identifiers of the request and of the object.
    pub fn request(&self) -> ObjectRequest {
        self.request
    }

    /// The room for the data, preceded by [`DATA_HEADER_BYTES`] bytes. The caller may use these bytes to build the
    /// data at an aligned address; [`Self::commit`] overwrites them.
    pub fn bytes(&mut self) -> &mut [u8] {
        self.slot.bytes()
    }

    /// Commits the first `length` bytes of the data, which the stream then sends.
    pub fn commit(mut self, length: usize) {
        let header = data_header(self.id, self.request, length);
        if let Some(room) = self.slot.bytes().first_chunk_mut() {
            *room = header;
        }
        self.slot.commit(DATA_HEADER_BYTES + length);
    }
}
