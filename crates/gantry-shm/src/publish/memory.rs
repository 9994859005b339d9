//! The memory in which a publisher allocates slots and rings: its file, grown and punched in place.
//!
//! The list of free ranges is private (`range-alloc`, best fit), so that no other process can damage it. Invariants:
//! - M1: an allocated range has pages behind every byte (`fallocate`), until it is freed.
//! - M2: allocated ranges do not overlap, are multiples of 64, and lie below the file's length.

use crate::{
    crash::{self, Point},
    error::{Error, Result},
    os::{directory::Directory, region::Region},
    protocol::{
        history::Slot,
        layout::{LINE_BYTES, PAGE_BYTES, PAYLOAD_OFFSET},
    },
};
use range_alloc::RangeAllocator;
use std::ops::Range;

/// Unused memory below this is not punched.
const MIN_PUNCH_BYTES: usize = 1 << 20;

/// The allocated and free ranges of one publisher's file.
pub(crate) struct Memory {
    ranges: RangeAllocator<usize>,
    /// Free ranges of whole pages that were punched, in any order.
    holes: Vec<Range<usize>>,
    backed_bytes: usize,
}

impl Memory {
    /// No memory yet: the file ends at `offset`.
    pub(crate) fn new(offset: usize) -> Memory {
        Memory { ranges: RangeAllocator::new(offset..offset), holes: Vec::new(), backed_bytes: 0 }
    }

    /// Bytes with pages.
    pub(crate) fn backed_bytes(&self) -> usize {
        self.backed_bytes
    }

    /// Allocates `bytes`, a multiple of 64, with its pages brought in. If the file must grow for it, it grows by `ahead_bytes`
    /// if that is more. `what` names the purpose in errors. `Ok(None)`: the file may not grow so far.
    pub(crate) fn take(
        &mut self,
        region: &Region,
        directory: &Directory,
        what: &str,
        bytes: usize,
        ahead_bytes: usize,
    ) -> Result<Option<Slot>> {
        let range = match self.ranges.allocate_range(bytes) {
            Ok(range) => range,
            Err(_) => {
                let end = region.length_bytes();
                let taken_to = self.ranges.allocated_ranges().map(|range| range.end).max();
                let free_at_end = end - taken_to.unwrap_or(self.ranges.initial_range().start);
                let needed_bytes = bytes.saturating_sub(free_at_end);
                let fits = |more: &usize| end.checked_add(*more).is_some_and(|end| end <= region.reserve_bytes());
                let ahead = (needed_bytes.max(ahead_bytes)).checked_next_multiple_of(PAGE_BYTES).filter(fits);
                let Some(least) = needed_bytes.checked_next_multiple_of(PAGE_BYTES).filter(fits) else {
                    return Ok(None);
                };
                // As much ahead as there is room for.
                let grow = |more: usize| region.grow(directory, what, end + more).map(|()| more);
                let more = ahead.map_or(least, |ahead| grow(ahead).unwrap_or(least));
                grow(more)?;
                self.backed_bytes += more;
                self.ranges.grow_to(end + more);
                match self.ranges.allocate_range(bytes) {
                    Ok(range) => range,
                    Err(_) => return Ok(None), // cannot be: it has just grown by enough
                }
            }
        };
        if let Err(error) = self.fill_holes(region, directory, what, &range) {
            self.ranges.free_range(range);
            return Err(error);
        }
        Ok(Some(Slot { offset: range.start, bytes }))
    }

    /// Frees a range.
    pub(crate) fn free(&mut self, slot: Slot) {
        self.ranges.free_range(slot.offset..slot.offset + slot.bytes);
    }

    /// M1: adds pages to the parts of `range` without.
    fn fill_holes(&mut self, region: &Region, directory: &Directory, what: &str, range: &Range<usize>) -> Result<()> {
        while let Some(index) = self.holes.iter().position(|hole| hole.start < range.end && range.start < hole.end) {
            let hole = self.holes[index].clone();
            let filled = hole.start.max(range.start / PAGE_BYTES * PAGE_BYTES)
                ..hole.end.min(range.end.next_multiple_of(PAGE_BYTES));
            region.fill(directory, what, filled.clone())?;
            crash::point(Point::HoleFilled);
            region.populate(filled.start, filled.end);
            self.backed_bytes += filled.len();
            self.holes.swap_remove(index);
            self.holes
                .extend([hole.start..filled.start, filled.end..hole.end].into_iter().filter(|rest| !rest.is_empty()));
        }
        Ok(())
    }

    /// Whether so much memory is unused that [`Memory::punch`] is worth its system calls; `peak_bytes` is the recent peak of the
    /// memory in use.
    #[inline]
    pub(crate) fn is_oversized(&self, peak_bytes: usize) -> bool {
        self.backed_bytes > 2 * peak_bytes + MIN_PUNCH_BYTES
    }

    /// Punches pages of free ranges, the last ones first, until `keep_bytes` are left.
    pub(crate) fn punch(&mut self, region: &Region, directory: &Directory, keep_bytes: usize) -> Result<()> {
        let Range { start, end } = *self.ranges.initial_range();
        let mut gaps = Vec::new();
        let mut free_from = start;
        // Not the last page: a reader that reads the file's length checks whether that page can be read.
        let last_page = end - PAGE_BYTES..end;
        for taken in self.ranges.allocated_ranges().chain(std::iter::once(last_page)) {
            gaps.push(free_from.next_multiple_of(PAGE_BYTES)..taken.start / PAGE_BYTES * PAGE_BYTES);
            free_from = taken.end;
        }
        for gap in gaps.into_iter().rev().filter(|gap| !gap.is_empty()) {
            let surplus = self.backed_bytes.saturating_sub(keep_bytes);
            if surplus < PAGE_BYTES {
                break;
            }
            // Holes lie inside gaps, since the ranges allocated from them were filled.
            let inside = |hole: &Range<usize>| gap.start <= hole.start && hole.end <= gap.end;
            let hole_bytes: usize = self.holes.iter().filter(|hole| inside(hole)).map(Range::len).sum();
            if gap.len() > hole_bytes {
                region.punch(directory, gap.clone())?;
                crash::point(Point::FilePunched);
                self.holes.retain(|hole| !inside(hole));
                self.backed_bytes -= gap.len() - hole_bytes;
                self.holes.push(gap);
            }
        }
        Ok(())
    }
}

/// Bytes of a slot for a payload of `length_bytes`, header included; an error if no sample can be so long.
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
