//! A loan: the slot of a publisher for one message, which is written in place.

use crate::{
    describe::description::RequestId,
    error::{Error, Result},
    protocol::{
        history::Slot,
        layout::{LINE_BYTES, PAYLOAD_OFFSET, SlotHeader},
    },
    publish::publisher_file::PublisherFile,
};
use std::{mem::ManuallyDrop, ptr::NonNull, sync::Arc};

/// A loan: memory for one message. [`Publisher::publish`](crate::Publisher::publish) publishes it; a drop
/// returns the slot.
///
/// The memory has the slot's old contents (zeros at first), because it would be a waste to clear bytes that
/// will be overwritten.
///
/// # Real-time
/// Reading, writing and dropping a loan are on the data path. Exceptions: if more than 128 loans were dropped
/// unpublished since the publisher was last short of slots, a drop takes a lock and may allocate; and the drop of the
/// last loan of a publisher that is gone unmaps the publisher's memory.
pub struct Loan {
    file: Arc<PublisherFile>,
    /// The slot and the payload: the upper half is the slot's offset / 64, the lower half the length of the payload.
    /// So a loan has two words and travels in registers: memory that is stored in 8 bytes and loaded in 16 costs 4
    /// ns each time.
    place: u64,
}

/// The value of `request_valid_for` in the header of a slot on loan whose message answers a request.
const RESPONSE: u64 = u64::MAX;

impl Loan {
    /// Makes a loan of `slot`, which was taken from the history of `file`'s publisher; header and `length_bytes`
    /// fit in the slot.
    #[inline(always)]
    pub(crate) fn new(file: Arc<PublisherFile>, slot: Slot, length_bytes: usize) -> Result<Loan> {
        file.check(slot)?;
        Ok(Loan { file, place: ((slot.offset() / LINE_BYTES) as u64) << 32 }.again(length_bytes))
    }

    /// The topic of the loan's publisher.
    pub(crate) fn topic(&self) -> &str {
        &self.file.topic
    }

    /// Uses the loan for another message of `length_bytes`. The last message was copied into the ring, so its slot was
    /// not published.
    #[inline(always)]
    pub(crate) fn again(mut self, length_bytes: usize) -> Loan {
        self.place = self.place >> 32 << 32 | length_bytes as u64; // at most 2^32 - 1 (`slot_bytes`)
        self.header_mut().request_valid_for = 0;
        self
    }

    /// The address of the header. The slot belongs to this loan alone (`protocol::history`: a slot is in exactly one
    /// state), and no reader looks at it before it is published (I4). In a forked child this memory is not mapped.
    #[inline]
    fn header(&self) -> NonNull<SlotHeader> {
        self.file.header_at(self.offset())
    }

    #[inline]
    pub(crate) fn header_mut(&mut self) -> &mut SlotHeader {
        // SAFETY: in bounds and aligned (`PublisherFile::check`), in a mapping that the file keeps; the header
        // belongs to this loan alone.
        unsafe { self.header().as_mut() }
    }

    #[inline]
    fn payload(&self) -> NonNull<u8> {
        // SAFETY: the slot is longer than its header (`PublisherFile::check`).
        unsafe { self.header().cast::<u8>().add(PAYLOAD_OFFSET) }
    }

    /// The payload.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: `length_bytes` initialised bytes (the kernel's zeros, or an earlier message) in a slot that belongs
        // to this loan alone, in a mapping that the file keeps.
        unsafe { std::slice::from_raw_parts(self.payload().as_ptr(), self.length_bytes()) }
    }

    /// The payload, writable.
    #[inline]
    #[must_use]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`; `&mut self` makes the result the only borrow, and no reader looks at a slot before it
        // is published (I4).
        unsafe { std::slice::from_raw_parts_mut(self.payload().as_ptr(), self.length_bytes()) }
    }

    /// The first `room_bytes` of the slot's payload as words.
    ///
    /// # Safety
    /// The slot has `room_bytes` of room.
    #[inline]
    pub(crate) unsafe fn words(&self, room_bytes: usize) -> &[u64] {
        // SAFETY: as in `bytes`, with the promise of the caller; the payload is aligned to 64 bytes.
        unsafe { std::slice::from_raw_parts(self.payload().cast::<u64>().as_ptr(), room_bytes / size_of::<u64>()) }
    }

    /// Sets the request that this message answers, or, for a message that a bridge brings, the publisher on another
    /// host; see [`SampleInfo::request`](crate::SampleInfo::request).
    #[inline]
    pub fn set_request(&mut self, request: RequestId) {
        let header = self.header_mut();
        (header.request_gid, header.request_sequence) = (request.client_gid.0, request.sequence);
        header.request_valid_for = RESPONSE;
    }

    /// Whether the message answers a request.
    #[inline]
    pub(crate) fn is_response(&self) -> bool {
        // SAFETY: as in `header_mut`.
        unsafe { self.header().as_ref() }.request_valid_for == RESPONSE
    }

    /// The length of the payload.
    #[inline]
    pub(crate) fn length_bytes(&self) -> usize {
        self.place as u32 as usize
    }

    /// The offset of the loan's slot.
    #[inline]
    pub(crate) fn offset(&self) -> usize {
        (self.place >> 32) as usize * LINE_BYTES
    }

    /// Whether the loan belongs to the publisher with this file.
    #[inline]
    pub(crate) fn is_of(&self, file: &Arc<PublisherFile>) -> bool {
        Arc::ptr_eq(&self.file, file)
    }

    /// Ends the loan, because its slot is published or free again; returns the reference to the file, for another loan.
    #[inline]
    pub(crate) fn into_file(self) -> Arc<PublisherFile> {
        let loan = ManuallyDrop::new(self);
        // SAFETY: `loan` is not dropped, so this is the only use of the reference.
        unsafe { std::ptr::read(&loan.file) }
    }
}

impl Drop for Loan {
    #[inline]
    fn drop(&mut self) {
        if self.file.epoch.is_current() {
            self.file.returned_slots.put(self.offset());
        }
    }
}

impl std::fmt::Debug for Loan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Loan({} bytes at {})", self.length_bytes(), self.offset())
    }
}

/// A loan that could not be published, and the error. The loan can be published again or dropped.
#[derive(thiserror::Error)]
#[error("{error}")]
pub struct PublishError {
    /// The message, as it was written.
    pub loan: Loan,
    /// The error.
    pub error: Box<Error>,
}

/// Prints the same sentence as `Display`.
impl std::fmt::Debug for PublishError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

impl From<PublishError> for Error {
    /// Returns the error, and drops the loan.
    fn from(unpublished: PublishError) -> Error {
        *unpublished.error
    }
}
