//! The ring of a publisher: one 64-bit entry a line, saying which slot holds which sequence, and whether it is dead.
//!
//! Written by `publisher`, read by `link`. One load gives a consistent triple, so nothing needs a second look at several
//! words. Invariant N1: an entry is marked dead before its slot can be freed and before the entry can be overwritten.

use crate::{
    error::Result,
    layout::{LINE_BYTES, RingLine},
    region::Region,
};
use std::{
    ptr::NonNull,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

const DEAD: u64 = 1 << 31;
const SEQUENCE_MASK: u64 = DEAD - 1;

/// What an entry says about the sequence that one looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// The sample is not published yet.
    NotYet,
    /// The sample is in the slot at this offset.
    Alive(usize),
    /// The sample has left the history, or its entry is used by a newer one.
    Gone,
}

/// The entry of a living sample. `offset` is a multiple of 64 below 2^38.
#[inline]
pub(crate) fn alive(offset: usize, sequence: u64) -> u64 {
    ((offset / LINE_BYTES) as u64) << 32 | sequence & SEQUENCE_MASK
}

/// What `entry` says about `sequence`.
///
/// The 31 bits wrap; they are compared as a distance, which is right while reader and publisher are less than 2^30 apart.
/// Beyond, the full sequence in the slot's header tells.
#[inline]
pub(crate) fn classify(entry: u64, sequence: u64) -> Entry {
    let distance = (entry.wrapping_sub(sequence) & SEQUENCE_MASK) << 33;
    match distance as i64 {
        0 if entry & DEAD == 0 => Entry::Alive((entry >> 32) as usize * LINE_BYTES),
        1.. | 0 => Entry::Gone,
        _ => Entry::NotYet,
    }
}

/// A ring in a mapped region, which its holder keeps mapped.
#[derive(Clone, Copy)]
pub(crate) struct Ring {
    first: NonNull<RingLine>,
    mask: u64,
}

// SAFETY: the pointer goes into a region, which may be used from any thread; its holder keeps the region.
unsafe impl Send for Ring {}

impl Ring {
    /// The ring of 2^`log2_capacity` lines at `offset`, after checking that it is inside `region`.
    pub(crate) fn attach(region: &Region, offset: usize, log2_capacity: u32) -> Result<Ring> {
        let lines = 1usize.checked_shl(log2_capacity).unwrap_or(usize::MAX);
        let bytes = lines.saturating_mul(size_of::<RingLine>());
        let first = region.pointer(offset, bytes, LINE_BYTES)?.cast();
        Ok(Ring { first, mask: lines as u64 - 1 })
    }

    /// The word of a sequence.
    #[inline]
    pub(crate) fn entry(&self, sequence: u64) -> &AtomicU64 {
        // SAFETY: the index is below the capacity, whose lines were checked to be inside the region (`attach`).
        let line = unsafe { self.first.add((sequence & self.mask) as usize) };
        // SAFETY: as above; the holder of this ring keeps the region mapped, and a line is an atomic.
        unsafe { &line.as_ref().entry }
    }

    /// How many entries there are.
    pub(crate) fn capacity(&self) -> u64 {
        self.mask + 1
    }

    /// Publisher: marks the entry of a retained sample dead (N1). Relaxed: the SeqCst fence that follows orders it.
    #[inline]
    pub(crate) fn mark_dead(&self, sequence: u64) {
        let entry = self.entry(sequence);
        entry.store(entry.load(Relaxed) | DEAD, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_tells_older_same_dead_and_newer_apart() {
        let entry = alive(64 * 5, 100);
        assert_eq!(classify(entry, 100), Entry::Alive(320));
        assert_eq!(classify(entry | DEAD, 100), Entry::Gone);
        assert_eq!(classify(entry, 99), Entry::Gone);
        assert_eq!(classify(entry, 101), Entry::NotYet);
        assert_eq!(classify(entry | DEAD, 164), Entry::NotYet);
        assert_eq!(classify(0, 1), Entry::NotYet);
    }

    #[test]
    fn sequences_beyond_31_bits_compare_right() {
        let base = 1 << 31;
        for sequence in [base - 1, base, base + 1, 7 * base - 1, 7 * base] {
            let entry = alive(64, sequence);
            assert_eq!(classify(entry, sequence), Entry::Alive(64));
            assert_eq!(classify(entry, sequence + 1), Entry::NotYet);
            assert_eq!(classify(entry, sequence - 1), Entry::Gone);
        }
    }

    #[test]
    fn the_largest_offset_survives() {
        let offset = (u32::MAX as usize) * 64;
        assert_eq!(classify(alive(offset, 3), 3), Entry::Alive(offset));
    }
}
