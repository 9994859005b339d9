//! A slot on loan: the publisher's memory for one message, to be written in place.

use crate::{error::Result, fork::Epoch, layout::PAYLOAD_OFFSET, publisher_file::PublisherFile};
use std::{ptr::NonNull, sync::Arc};

/// Memory for one message. Publish it with the publisher it came from; dropping it gives the slot back.
///
/// Its bytes are what the slot last held (zeros at first), so nothing is cleared that will be overwritten anyway.
///
/// # Real-time
/// Reading and writing it neither allocates, blocks nor makes system calls. Dropping it unpublished takes a lock.
pub struct Loan {
    pub(crate) file: Arc<PublisherFile>,
    /// `None` once it is published.
    slot: Option<u32>,
    payload: NonNull<u8>,
    length_bytes: usize,
    epoch: Epoch,
}

// SAFETY: the slot belongs to this loan alone (slots.rs: a slot is in exactly one place), wherever the loan goes.
unsafe impl Send for Loan {}
// SAFETY: a shared loan only reads the bytes.
unsafe impl Sync for Loan {}

impl Loan {
    /// `slot` was taken out of the books of `file`'s publisher; `length_bytes` fits in it.
    pub(crate) fn new(file: Arc<PublisherFile>, slot: u32, length_bytes: usize, epoch: Epoch) -> Result<Loan> {
        let header = file.slot(slot)?;
        // SAFETY: the slot is `stride_bytes` long (L1), which is more than the header.
        let payload = unsafe { header.cast::<u8>().add(PAYLOAD_OFFSET) };
        Ok(Loan { file, slot: Some(slot), payload, length_bytes, epoch })
    }

    /// The payload.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: `length_bytes` initialised bytes (the kernel's zeros, or an earlier message) in a slot that is ours
        //   alone, in a mapping that `file` keeps.
        unsafe { std::slice::from_raw_parts(self.payload.as_ptr(), self.length_bytes) }
    }

    /// The payload, to be written.
    #[inline]
    #[must_use]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`; `&mut self` makes it the only borrow, and no reader looks at a slot before it is
        //   published (I4).
        unsafe { std::slice::from_raw_parts_mut(self.payload.as_ptr(), self.length_bytes) }
    }

    pub(crate) fn take_slot(&mut self) -> Option<u32> {
        self.slot.take()
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        if let (Some(slot), true) = (self.slot, self.epoch.is_current()) {
            self.file.give_back(slot);
        }
    }
}

impl std::fmt::Debug for Loan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Loan({}, slot {:?}, {} bytes)", self.file.name, self.slot, self.length_bytes)
    }
}
