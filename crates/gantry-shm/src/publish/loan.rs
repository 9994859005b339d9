//! A slot on loan: the publisher's memory for one message, to be written in place.

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

/// Memory for one message. Publish it with the publisher it came from; dropping it gives the slot back.
///
/// Its bytes are what the slot last held (zeros at first), so nothing is cleared that will be overwritten anyway.
///
/// # Real-time
/// Reading, writing and dropping it neither allocates, blocks nor makes system calls. But of more than 64 loans that are
/// out at once and are dropped unpublished, further ones take a lock; and the last loan of a publisher that is gone unmaps its memory.
pub struct Loan {
    /// `None` once it is published.
    slot: Option<(Arc<PublisherFile>, Slot)>,
    /// Of the slot; the payload follows.
    header: NonNull<SlotHeader>,
    length_bytes: usize,
    /// The header says which request it answers.
    is_response: bool,
    epoch: Epoch,
}

// SAFETY: the slot belongs to this loan alone (history.rs: a slot is in exactly one place), wherever the loan goes.
unsafe impl Send for Loan {}
// SAFETY: a shared loan only reads the bytes.
unsafe impl Sync for Loan {}

impl Loan {
    /// `slot` was taken out of the books of `file`'s publisher; header and `length_bytes` fit in it.
    #[inline]
    pub(crate) fn new(file: Arc<PublisherFile>, slot: Slot, length_bytes: usize, epoch: Epoch) -> Result<Loan> {
        let header = file.slot(slot)?;
        Ok(Loan { slot: Some((file, slot)), header, length_bytes, is_response: false, epoch })
    }

    #[inline]
    fn payload(&self) -> NonNull<u8> {
        // SAFETY: the slot is `slot.bytes` long (`PublisherFile::slot`), which is more than the header.
        unsafe { self.header.cast::<u8>().add(PAYLOAD_OFFSET) }
    }

    /// The slot's header, in bounds and aligned, which nobody else looks at before the loan is published.
    #[inline]
    pub(crate) fn header(&self) -> NonNull<SlotHeader> {
        self.header
    }

    /// The payload.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: `length_bytes` initialised bytes (the kernel's zeros, or an earlier message) in a slot that is ours
        //   alone, in a mapping that the file keeps.
        unsafe { std::slice::from_raw_parts(self.payload().as_ptr(), self.length_bytes) }
    }

    /// The payload, to be written.
    #[inline]
    #[must_use]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`; `&mut self` makes it the only borrow, and no reader looks at a slot before it is
        //   published (I4).
        unsafe { std::slice::from_raw_parts_mut(self.payload().as_ptr(), self.length_bytes) }
    }

    /// Says which request this message answers, as [`SampleInfo::request`](crate::SampleInfo::request) tells who takes it.
    #[inline]
    pub fn set_request(&mut self, request: RequestId) {
        // SAFETY: in bounds and aligned (`PublisherFile::slot`); ours alone until it is published (I4).
        let header = unsafe { self.header.as_mut() };
        (header.request_gid, header.request_sequence) = (request.client_gid.0, request.sequence);
        self.is_response = true;
    }

    /// Whether [`Loan::set_request`] was called.
    #[inline]
    pub(crate) fn is_response(&self) -> bool {
        self.is_response
    }

    /// How many bytes the payload has.
    #[inline]
    pub(crate) fn length_bytes(&self) -> usize {
        self.length_bytes
    }

    /// Whether it came from the publisher with that file; its slot, if so.
    #[inline]
    pub(crate) fn slot_of(&self, file: &Arc<PublisherFile>) -> Option<Slot> {
        self.slot.as_ref().filter(|(own, _)| Arc::ptr_eq(own, file)).map(|&(_, slot)| slot)
    }

    /// The slot is published: gives its reference to the file back, to be used for another loan.
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

/// A loan that could not be published, and why; publish it again or drop it.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct PublishError {
    /// The message, as it was written.
    pub loan: Loan,
    /// Why.
    pub error: Box<Error>,
}

impl From<PublishError> for Error {
    /// Drops the loan.
    fn from(unpublished: PublishError) -> Error {
        *unpublished.error
    }
}
