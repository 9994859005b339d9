//! The memory in which a publisher allocates slots and rings: its file, which grows in place and never shrinks.
//!
//! The list of free ranges is private (`range-alloc`, best fit), so that no other process can damage it. Invariant:
//! - M1: allocated ranges do not overlap, are multiples of 64, and lie below the file's length (so `region`, R2 holds
//!   for them).

use crate::{
    error::{Error, Result},
    os::{directory::Directory, region::Region},
    protocol::{
        history::Slot,
        layout::{LINE_BYTES, PAGE_BYTES, PAYLOAD_OFFSET},
    },
};
use range_alloc::RangeAllocator;

/// The allocated and free ranges of one publisher's file.
pub(crate) struct Memory(RangeAllocator<usize>);

impl Memory {
    /// Creates the memory of a file that ends at `offset`: nothing can be allocated before the file grows.
    pub(crate) fn new(offset: usize) -> Memory {
        Memory(RangeAllocator::new(offset..offset))
    }

    /// Allocates `bytes`, a multiple of 64, and populates their pages. If the file must grow for this, it grows by
    /// at least `ahead_bytes`. `what` names the purpose in errors. Returns `Ok(None)` if the file is at its limit.
    pub(crate) fn take(
        &mut self,
        region: &Region,
        directory: &Directory,
        what: &str,
        bytes: usize,
        ahead_bytes: usize,
    ) -> Result<Option<Slot>> {
        if let Some(slot) = self.take_free(bytes) {
            return Ok(Some(slot));
        }
        let end = region.length_bytes();
        let taken_to = self.0.allocated_ranges().map(|range| range.end).max();
        let needed_bytes = bytes.saturating_sub(end - taken_to.unwrap_or(self.0.initial_range().start));
        let end_after = |more: usize| {
            let new_end = end.checked_add(more)?.checked_next_multiple_of(PAGE_BYTES);
            new_end.filter(|&new_end| new_end <= region.reserve_bytes())
        };
        let Some(least_end) = end_after(needed_bytes) else { return Ok(None) };
        let grow_to = |new_end| region.grow(directory, what, new_end);
        // The file grows by more than is needed only if there is room for this.
        let has_grown = end_after(needed_bytes.max(ahead_bytes)).is_some_and(|new_end| grow_to(new_end).is_ok());
        if !has_grown {
            grow_to(least_end)?;
        }
        self.0.grow_to(region.length_bytes());
        Ok(self.take_free(bytes))
    }

    fn take_free(&mut self, bytes: usize) -> Option<Slot> {
        self.0.allocate_range(bytes).ok().map(|range| Slot::new(range.start, bytes))
    }

    /// Frees the range of a slot or ring.
    pub(crate) fn free(&mut self, slot: Slot) {
        self.0.free_range(slot.offset()..slot.offset() + slot.bytes());
    }
}

/// The bytes of a slot for a payload of `length_bytes`, header included; an error if no sample can be so long.
#[inline]
pub(crate) fn slot_bytes(length_bytes: usize) -> Result<usize> {
    if length_bytes > u32::MAX as usize {
        return Err(too_long(length_bytes));
    }
    Ok((PAYLOAD_OFFSET + length_bytes).next_multiple_of(LINE_BYTES))
}

#[cold]
fn too_long(length_bytes: usize) -> Error {
    Error::OutOfRange {
        what: "the size of a message",
        value: format!("{length_bytes} bytes"),
        range: format!("at most {} bytes fit in one sample", u32::MAX),
    }
}
