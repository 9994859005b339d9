//! The loans of a publisher, and the file references that it keeps for the next loans.

use super::{Publisher, slots};
use crate::{
    crash::{self, Point},
    error::{Error, Result},
    protocol::{layout::INLINE_OFFSET, prefetch},
    publish::{loan::Loan, memory::slot_bytes},
};
use std::sync::Arc;

impl Publisher {
    /// Loans a slot for `length_bytes` of payload. Several slots may be on loan at once.
    ///
    /// # Errors
    /// `length_bytes` is more than the type allows; all memory that this publisher may use is in use; the file system
    /// has no room for more memory.
    ///
    /// # Real-time
    /// If no slot of about this size is free and no sample of this size can be reclaimed, the memory of free slots
    /// is allocated anew, or the file grows (system calls). A publisher begins with one slot for messages of 1 MiB
    /// or more. To get more slots in advance, take several loans at a time and drop them. The function and its
    /// callees are inlined: a loan that is returned through memory would be loaded before its store is complete,
    /// which is slow.
    #[inline(always)]
    pub fn loan(&mut self, length_bytes: usize) -> Result<Loan> {
        if self.is_inline(length_bytes)
            && self.epoch.is_current()
            && let Some(loan) = self.inline_loan.take()
        {
            return Ok(loan.again(length_bytes));
        }
        self.loan_slot(length_bytes)
    }

    /// Loans a free slot, not the slot that is kept from the last inline message.
    fn loan_slot(&mut self, length_bytes: usize) -> Result<Loan> {
        if !self.epoch.is_current() || length_bytes > self.description.message_type.payload_bytes {
            return Err(self.refused_loan(length_bytes));
        }
        // An inline message is first written into a slot of fixed size, then copied into the ring's entry. The slot has
        // room up to the end of the entry's last cache line.
        let room_bytes = if self.is_inline(length_bytes) { self.entry_bytes - INLINE_OFFSET } else { length_bytes };
        let bytes = slot_bytes(room_bytes)?;
        if bytes >= slots::GROWTH_BYTES {
            // After a large message, the memory that the rest of the loan reads has left the cache.
            prefetch::for_reading(Arc::as_ptr(&self.file).cast());
            prefetch::for_reading(self.spare.as_ptr().cast());
        }
        if bytes >= slots::SINGLE_SLOT_BYTES {
            self.retire_unwanted(); // frees the slot that readers released last, which is still in the cache
        }
        let slot = match self.writer.history.take_free(bytes) {
            Some(slot) => slot,
            None => self.make_room(bytes)?,
        };
        crash::point(Point::SlotLoaned);
        let file = self.spare.pop().unwrap_or_else(|| self.file.clone());
        Loan::new(file, slot, length_bytes)
    }

    /// Loans a slot for a message that will be copied into it. The slot of the last message is the best one, if readers
    /// have released it, because its cache lines are still in the cache. Reading the readers' pins for each message
    /// costs little compared with a large copy.
    ///
    /// # Errors
    /// The errors of [`Publisher::loan`].
    pub fn loan_for_copy(&mut self, length_bytes: usize) -> Result<Loan> {
        self.domain.epoch.check()?;
        if (slots::GROWTH_BYTES..slots::SINGLE_SLOT_BYTES).contains(&length_bytes) {
            self.retire_unwanted();
        }
        self.loan(length_bytes)
    }

    /// Keeps the loan of an inline message that was published. If such a loan is kept already, frees the slot of the
    /// new one.
    #[inline(always)]
    pub(super) fn keep_for_next(&mut self, loan: Loan) {
        match self.inline_loan {
            None => self.inline_loan = Some(loan),
            Some(_) => self.free(loan),
        }
    }

    /// Makes the slot of a loan free.
    pub(super) fn free(&mut self, loan: Loan) {
        self.writer.history.return_loan(loan.offset());
        self.keep_file(loan);
    }

    /// Keeps the file reference of a loan whose slot was published, for the next loan.
    #[inline]
    pub(super) fn keep_file(&mut self, loan: Loan) {
        let file = loan.into_file();
        if self.spare.len() < self.spare.capacity() {
            self.spare.push(file);
        }
    }

    /// Whether a message of this length travels in the ring's entry.
    #[inline]
    pub(super) fn is_inline(&self, length_bytes: usize) -> bool {
        length_bytes <= self.inline_bytes
    }

    #[cold]
    fn refused_loan(&self, length_bytes: usize) -> Error {
        if !self.epoch.is_current() {
            return Error::Forked;
        }
        let most = self.description.message_type.payload_bytes;
        Error::OutOfRange {
            what: "the length of a loan",
            value: format!("{length_bytes} bytes"),
            range: format!("messages on {} have at most {most} bytes", self.description.topic),
        }
    }
}
