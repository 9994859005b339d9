//! Private memory for the inline samples that a subscription took: for each pin of a record a place that is laid out as a slot,
//! so that samples of both kinds are read in the same way.

use crate::protocol::layout::{LINE_BYTES, PAYLOAD_OFFSET, PINS_PER_RECORD, SlotHeader};
use std::{cell::UnsafeCell, ptr::NonNull};

/// A cache line of a place.
#[repr(C, align(64))]
struct Line(UnsafeCell<[u64; LINE_BYTES / 8]>);

/// The places for the samples of one record. The pin with a place's index says whether it is in use.
pub(crate) struct Copies {
    lines: Box<[Line]>,
    lines_per_place: usize,
}

// SAFETY: a place is written only by the thread that set its pin from 0, and read only by the sample that clears it
//   (`protocol::reader`).
unsafe impl Sync for Copies {}

impl Copies {
    /// Places for payloads of up to `payload_bytes`.
    pub(crate) fn new(payload_bytes: usize) -> Copies {
        let lines_per_place = (PAYLOAD_OFFSET + payload_bytes).div_ceil(LINE_BYTES);
        let lines = (0..PINS_PER_RECORD * lines_per_place).map(|_| Line(UnsafeCell::default())).collect();
        Copies { lines, lines_per_place }
    }

    /// The header of a place; the payload follows.
    #[inline]
    pub(crate) fn header(&self, index: usize) -> NonNull<SlotHeader> {
        let place = &self.lines[index * self.lines_per_place..][..self.lines_per_place];
        // A pointer to all of the place, writable since it goes through the cells.
        NonNull::from(place).cast()
    }

    /// The payload of a place, to be written.
    ///
    /// # Safety
    /// The pin with that index is 0 and the caller's alone, and the result is not used after the pin was cleared again.
    #[expect(clippy::mut_from_ref, reason = "the pin makes it the only reference")]
    #[inline]
    pub(crate) unsafe fn payload(&self, index: usize) -> &mut [u64] {
        let words = (self.lines_per_place * LINE_BYTES - PAYLOAD_OFFSET) / 8;
        // SAFETY: the payload follows the header in the place.
        let payload = unsafe { self.header(index).add(1) };
        // SAFETY: initialised words inside the place, which is the caller's alone.
        unsafe { NonNull::slice_from_raw_parts(payload.cast(), words).as_mut() }
    }
}
