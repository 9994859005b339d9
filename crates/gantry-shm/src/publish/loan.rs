//! A loan: the slot of a publisher for one message, which is written in place.

use crate::{
    describe::description::RequestId,
    error::{Error, Result},
    protocol::{
        history::Slot,
        layout::{PAYLOAD_OFFSET, SlotHeader},
    },
    publish::publisher_file::PublisherFile,
};
use std::{ptr::NonNull, sync::Arc};

/// Memory for one message. Its publisher publishes it; a drop returns the slot.
///
/// Its bytes are those that the slot last held (zeros at first): nothing is cleared that will be overwritten anyway.
///
/// # Real-time
/// Reading, writing and dropping it are on the data path. Exceptions: of more than 64 loans that are out at once and are dropped
/// unpublished, the drops of the others take a lock; and the last loan of a publisher that is gone unmaps its memory.
pub struct Loan {
    /// `None` once it is published.
    file: Option<Arc<PublisherFile>>,
    /// Header of the slot; the payload follows. While the slot is on loan, the header's `sequence` is the word of the slot, and
    /// `request_valid_for` is [`RESPONSE`] or 0: so a loan is two words, which travel in registers.
    header: NonNull<SlotHeader>,
}

/// The message answers the request that its header names.
const RESPONSE: u64 = u64::MAX;

// SAFETY: the slot belongs to this loan alone (`protocol::history`: a slot is in exactly one state), wherever the loan goes.
unsafe impl Send for Loan {}
// SAFETY: a shared loan only reads the bytes.
unsafe impl Sync for Loan {}

impl Loan {
    /// `slot` was taken out of the history of `file`'s publisher; header and `length_bytes` fit in it.
    #[inline(always)]
    pub(crate) fn new(file: Arc<PublisherFile>, slot: Slot, length_bytes: usize) -> Result<Loan> {
        let header = file.region.pointer(slot.offset, slot.bytes, align_of::<SlotHeader>())?.cast();
        let mut loan = Loan { file: Some(file), header };
        loan.header_mut().sequence = slot.to_word();
        Ok(loan.again(length_bytes))
    }

    /// A loan that was published inline, for another message.
    #[inline(always)]
    pub(crate) fn again(mut self, length_bytes: usize) -> Loan {
        let header = self.header_mut();
        (header.length_bytes, header.request_valid_for) = (length_bytes as u64, 0);
        self
    }

    /// The header, which no reader looks at before the loan is published. Not in a forked child, which has no such memory.
    #[inline]
    fn header(&self) -> &SlotHeader {
        // SAFETY: in bounds and aligned (`Loan::new`), in a mapping that the file keeps; this loan's alone.
        unsafe { self.header.as_ref() }
    }

    #[inline]
    pub(crate) fn header_mut(&mut self) -> &mut SlotHeader {
        // SAFETY: as above.
        unsafe { self.header.as_mut() }
    }

    #[inline]
    fn payload(&self) -> NonNull<u8> {
        // SAFETY: the slot is `slot.bytes` long (`Loan::new`), which is more than the header.
        unsafe { self.header.cast::<u8>().add(PAYLOAD_OFFSET) }
    }

    /// The payload.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: `length_bytes` initialised bytes (the kernel's zeros, or an earlier message) in a slot that is this loan's
        //   alone, in a mapping that the file keeps.
        unsafe { std::slice::from_raw_parts(self.payload().as_ptr(), self.length_bytes()) }
    }

    /// The payload, writable.
    #[inline]
    #[must_use]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`; `&mut self` makes it the only borrow, and no reader looks at a slot before it is
        //   published (I4).
        unsafe { std::slice::from_raw_parts_mut(self.payload().as_ptr(), self.length_bytes()) }
    }

    /// The payload in words, and the words behind it to the end of the slot.
    #[inline]
    pub(crate) fn words(&self) -> &[u64] {
        let words = (self.slot().bytes - PAYLOAD_OFFSET) / size_of::<u64>();
        // SAFETY: as in `bytes`, of the whole slot; the payload is aligned to 64 bytes.
        unsafe { std::slice::from_raw_parts(self.payload().cast::<u64>().as_ptr(), words) }
    }

    /// Sets the request that this message answers, for [`SampleInfo::request`](crate::SampleInfo::request).
    #[inline]
    pub fn set_request(&mut self, request: RequestId) {
        let header = self.header_mut();
        (header.request_gid, header.request_sequence) = (request.client_gid.0, request.sequence);
        header.request_valid_for = RESPONSE;
    }

    /// Whether it answers a request.
    #[inline]
    pub(crate) fn is_response(&self) -> bool {
        self.header().request_valid_for == RESPONSE
    }

    /// Length of the payload.
    #[inline]
    pub(crate) fn length_bytes(&self) -> usize {
        self.header().length_bytes as usize
    }

    /// Its slot.
    #[inline]
    pub(crate) fn slot(&self) -> Slot {
        Slot::from_word(self.header().sequence)
    }

    /// Whether it is of the publisher with that file.
    #[inline]
    pub(crate) fn is_of(&self, file: &Arc<PublisherFile>) -> bool {
        self.file.as_ref().is_some_and(|own| Arc::ptr_eq(own, file))
    }

    /// The slot is published, or free again: returns the reference to the file, for another loan.
    #[inline]
    pub(crate) fn into_file(mut self) -> Option<Arc<PublisherFile>> {
        self.file.take()
    }
}

impl Drop for Loan {
    #[inline]
    fn drop(&mut self) {
        if let Some(file) = self.file.as_ref().filter(|file| file.epoch.is_current()) {
            file.returned_slots.put(self.slot());
        }
    }
}

impl std::fmt::Debug for Loan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.file.as_ref().is_some_and(|file| file.epoch.is_current()) {
            true => write!(f, "Loan({:?}, {} bytes)", self.slot(), self.length_bytes()),
            false => write!(f, "Loan(of the parent process)"),
        }
    }
}

/// A loan that could not be published, and the error. The loan can be published again or dropped.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct PublishError {
    /// The message, as it was written.
    pub loan: Loan,
    /// The error.
    pub error: Box<Error>,
}

impl From<PublishError> for Error {
    /// Drops the loan.
    fn from(unpublished: PublishError) -> Error {
        *unpublished.error
    }
}
