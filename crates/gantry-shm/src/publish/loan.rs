//! A loan: the slot of a publisher for one message, which is written in place.

use crate::{
    describe::description::RequestId,
    error::{Error, Result},
    os::fork::Epoch,
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
    slot: Option<(Arc<PublisherFile>, Slot)>,
    /// Header of the slot; the payload follows.
    header: NonNull<SlotHeader>,
    length_bytes: usize,
    /// The header names the request that it answers.
    pub(crate) is_response: bool,
    epoch: Epoch,
}

// SAFETY: the slot belongs to this loan alone (`protocol::history`: a slot is in exactly one state), wherever the loan goes.
unsafe impl Send for Loan {}
// SAFETY: a shared loan only reads the bytes.
unsafe impl Sync for Loan {}

impl Loan {
    /// `slot` was taken out of the history of `file`'s publisher; header and `length_bytes` fit in it.
    #[inline(always)]
    pub(crate) fn new(file: Arc<PublisherFile>, slot: Slot, length_bytes: usize, epoch: Epoch) -> Result<Loan> {
        let header = file.slot(slot)?;
        Ok(Loan { slot: Some((file, slot)), header, length_bytes, is_response: false, epoch })
    }

    #[inline]
    fn payload(&self) -> NonNull<u8> {
        // SAFETY: the slot is `slot.bytes` long (`PublisherFile::slot`), which is more than the header.
        unsafe { self.header.cast::<u8>().add(PAYLOAD_OFFSET) }
    }

    /// The slot's header, in bounds and aligned; no reader looks at it before the loan is published.
    #[inline]
    pub(crate) fn header(&self) -> NonNull<SlotHeader> {
        self.header
    }

    /// The payload.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: `length_bytes` initialised bytes (the kernel's zeros, or an earlier message) in a slot that is this loan's
        //   alone, in a mapping that the file keeps.
        unsafe { std::slice::from_raw_parts(self.payload().as_ptr(), self.length_bytes) }
    }

    /// The payload, writable.
    #[inline]
    #[must_use]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`; `&mut self` makes it the only borrow, and no reader looks at a slot before it is
        //   published (I4).
        unsafe { std::slice::from_raw_parts_mut(self.payload().as_ptr(), self.length_bytes) }
    }

    /// The payload in words; bytes behind the payload fill the last one.
    #[inline]
    pub(crate) fn words(&self) -> &[u64] {
        // SAFETY: as in `bytes`; the payload is aligned to 64 bytes, and its slot is whole lines, so whole words.
        unsafe { std::slice::from_raw_parts(self.payload().cast::<u64>().as_ptr(), self.length_bytes.div_ceil(8)) }
    }

    /// Sets the request that this message answers, for [`SampleInfo::request`](crate::SampleInfo::request).
    #[inline]
    pub fn set_request(&mut self, request: RequestId) {
        // SAFETY: in bounds and aligned (`PublisherFile::slot`); this loan's alone until it is published (I4).
        let header = unsafe { self.header.as_mut() };
        (header.request_gid, header.request_sequence) = (request.client_gid.0, request.sequence);
        self.is_response = true;
    }

    /// The request of a response, in words: the client's gid in two, the sequence.
    pub(crate) fn request_words(&self) -> [u64; 3] {
        // SAFETY: as in `set_request`, which wrote it.
        let header = unsafe { self.header.as_ref() };
        let half = |first| u64::from_le_bytes(std::array::from_fn(|byte| header.request_gid[first + byte]));
        [half(0), half(8), header.request_sequence]
    }

    /// Length of the payload.
    #[inline]
    pub(crate) fn length_bytes(&self) -> usize {
        self.length_bytes
    }

    /// Its slot, if it is of the publisher with that file.
    #[inline]
    pub(crate) fn slot_of(&self, file: &Arc<PublisherFile>) -> Option<Slot> {
        self.slot.as_ref().filter(|(own, _)| Arc::ptr_eq(own, file)).map(|&(_, slot)| slot)
    }

    /// The slot is published: returns the reference to the file, for another loan.
    #[inline]
    pub(crate) fn into_file(mut self) -> Option<Arc<PublisherFile>> {
        self.slot.take().map(|(file, _)| file)
    }
}

impl Drop for Loan {
    #[inline]
    fn drop(&mut self) {
        if let (Some((file, slot)), true) = (&self.slot, self.epoch.is_current()) {
            file.returned_slots.put(*slot);
        }
    }
}

impl std::fmt::Debug for Loan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Loan({:?}, {} bytes)", self.slot.as_ref().map(|slot| slot.1), self.length_bytes)
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
