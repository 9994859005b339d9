//! The ring of a publisher: one 64-bit entry a line, with a slot, its sequence, and whether the sample is dead.
//!
//! One load gives a consistent triple, so nothing needs a second look at several words. Invariant N1: an entry is marked dead
//! before its slot can be freed and before the entry can be overwritten.

use crate::{
    crash::{self, Point},
    protocol::{
        layout::{LINE_BYTES, RingLine},
        shared::InRegion,
        sync::{AtomicU64, Ordering::Relaxed, Site, acquire_fence, is_weakened, release},
    },
};

const DEAD: u64 = 1 << 31;
const SEQUENCE_MASK: u64 = DEAD - 1;
/// Every entry of a ring that was replaced. No living sample has this word: it would lie at the very end of 256 GiB.
const MOVED: u64 = u64::MAX;

/// The state of a sequence, as its entry shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// The sample is not published yet.
    NotYet,
    /// The sample is in the slot at this offset.
    Alive(usize),
    /// The sample has left the history, or its entry is used by a newer one.
    Gone,
    /// The ring was replaced by a larger one.
    Moved,
}

/// The entry of a living sample. `offset` is a multiple of 64 below 2^38.
#[inline]
fn alive(offset: usize, sequence: u64) -> u64 {
    ((offset / LINE_BYTES) as u64) << 32 | sequence & SEQUENCE_MASK
}

/// The state of `sequence`, as `entry` shows it.
///
/// The 31 bits wrap; they are compared as a distance, which is right while reader and publisher are less than 2^30 apart.
/// Beyond that, the full sequence in the slot's header decides.
#[inline]
fn classify(entry: u64, sequence: u64) -> Entry {
    if entry == MOVED {
        return Entry::Moved;
    }
    let distance = (entry.wrapping_sub(sequence) & SEQUENCE_MASK) << 33;
    match distance as i64 {
        0 if entry & DEAD == 0 => Entry::Alive((entry >> 32) as usize * LINE_BYTES),
        1.. | 0 => Entry::Gone,
        _ => Entry::NotYet,
    }
}

/// The location of a publisher's ring, in one word: offset / 64 in the upper half, log2 of the capacity in the lower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Descriptor {
    pub(crate) offset: usize,
    pub(crate) log2_capacity: u32,
}

impl Descriptor {
    pub(crate) fn from_word(word: u64) -> Descriptor {
        Descriptor { offset: (word >> 32) as usize * LINE_BYTES, log2_capacity: word as u32 }
    }

    pub(crate) fn to_word(self) -> u64 {
        ((self.offset / LINE_BYTES) as u64) << 32 | u64::from(self.log2_capacity)
    }
}

/// A ring in a mapped region, which its holder keeps mapped.
#[derive(Clone, Copy)]
pub(crate) struct Ring {
    lines: InRegion<[RingLine]>,
    mask: u64,
}

impl Ring {
    /// The number of `lines` is a power of two.
    pub(crate) fn new(lines: InRegion<[RingLine]>) -> Ring {
        Ring { lines, mask: lines.len() as u64 - 1 }
    }

    #[inline]
    fn line(&self, sequence: u64) -> &RingLine {
        &self.lines[(sequence & self.mask) as usize]
    }

    /// The word of a sequence.
    #[inline]
    fn entry(&self, sequence: u64) -> &AtomicU64 {
        &self.line(sequence).entry
    }

    /// Address of the word of a sequence, for prefetching.
    #[inline]
    pub(crate) fn entry_address(&self, sequence: u64) -> *const u8 {
        std::ptr::from_ref(self.entry(sequence)).cast()
    }

    /// Number of entries.
    pub(crate) fn capacity(&self) -> usize {
        self.lines.len()
    }

    /// Reader: the state of a sequence. Every store before that of the entry is seen after this (1).
    #[inline]
    pub(crate) fn look(&self, sequence: u64) -> Entry {
        let word = self.entry(sequence).load(Relaxed);
        acquire_fence(Site::EntryLook);
        classify(word, sequence)
    }

    /// Reader: length of the sample whose entry is alive, from the entry's line, so that the slot's header need not be fetched.
    /// `None` if the publisher went on meanwhile (then the length is in the header, which the pin keeps), or if it is another
    /// sample's.
    #[inline]
    pub(crate) fn length_bytes(&self, sequence: u64) -> Option<u64> {
        let line = self.line(sequence);
        let (found, length_bytes) = (line.sequence.load(Relaxed), line.length_bytes.load(Relaxed));
        // (7) Had these been written for a later sample, the entry would be seen dead, for it was marked before a fence that
        // the publisher passed before it wrote them.
        if !is_weakened(Site::EntryLook) {
            acquire_fence(Site::LengthLook); // not if that site is weakened: this fence would hide that `look` needs its own
        }
        let is_unchanged = matches!(classify(line.entry.load(Relaxed), sequence), Entry::Alive(_));
        (is_unchanged && found == sequence).then_some(length_bytes)
    }

    /// Length of a sample that may have been retired, but not so long ago that its line was used again.
    pub(crate) fn length_bytes_of(&self, sequence: u64) -> Option<usize> {
        let line = self.line(sequence);
        (line.sequence.load(Relaxed) == sequence).then(|| line.length_bytes.load(Relaxed) as usize)
    }

    /// Reader: likely length of the sample whose entry is alive, for prefetching only.
    #[inline]
    pub(crate) fn length_hint(&self, sequence: u64) -> usize {
        self.line(sequence).length_bytes.load(Relaxed) as usize
    }

    /// Publisher: announces the sample at `offset`, whose slot is written (1).
    #[inline]
    pub(crate) fn publish(&self, sequence: u64, offset: usize, length_bytes: u32) {
        let line = self.line(sequence);
        line.sequence.store(sequence, Relaxed);
        line.length_bytes.store(length_bytes.into(), Relaxed);
        crash::point(Point::EntryWritten);
        line.entry.store(alive(offset, sequence), release(Site::EntryStore));
        crash::point(Point::EntryAlive);
    }

    /// Publisher: marks the entry of a sample that leaves the history dead (N1). Relaxed: the SeqCst fence that follows orders it.
    #[inline]
    pub(crate) fn mark_dead(&self, sequence: u64) {
        if is_weakened(Site::DeadMark) {
            return;
        }
        let entry = self.entry(sequence);
        entry.store(entry.load(Relaxed) | DEAD, Relaxed);
        crash::point(Point::EntryDead);
    }

    /// Publisher: fills `new`, which no reader sees yet, with the state of every sequence up to `head`.
    pub(crate) fn copy_to(&self, new: &Ring, tail: u64, head: u64) {
        let capacity = new.capacity() as u64;
        for index in 0..capacity {
            // The sequences up to `head` that share the ring; an entry before the first sample is 0, older than all.
            let sequence = (head + 1 + index).wrapping_sub(capacity);
            let (old, new) = (self.line(sequence), new.line(sequence));
            let word = match sequence as i64 {
                ..=0 => 0,
                _ if sequence < tail => DEAD | sequence & SEQUENCE_MASK,
                _ => old.entry.load(Relaxed),
            };
            new.sequence.store(old.sequence.load(Relaxed), Relaxed);
            new.length_bytes.store(old.length_bytes.load(Relaxed), Relaxed);
            new.entry.store(word, Relaxed);
        }
    }

    /// Publisher: sends readers that look here to the descriptor, which is stored (5). Marks every entry, since a reader may look
    /// at any of them.
    pub(crate) fn mark_moved(&self) {
        if !is_weakened(Site::MovedMark) {
            self.lines.iter().for_each(|line| {
                line.entry.store(MOVED, release(Site::MovedStore));
                crash::point(Point::EntryMoved);
            });
        }
    }
}

#[cfg(all(test, not(loom)))]
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
        assert_eq!(classify(MOVED, 3), Entry::Moved);
    }

    #[test]
    fn a_larger_ring_says_what_the_smaller_one_said() {
        let lines = |count: usize| -> &'static [RingLine] {
            // SAFETY: all zeros are ring lines (S1).
            Box::leak((0..count).map(|_| unsafe { std::mem::zeroed() }).collect())
        };
        // SAFETY: leaked memory stays.
        let ring = |count| Ring::new(unsafe { InRegion::new(lines(count)) });
        for head in [0u64, 1, 5, 9, (1 << 31) + 3, 3 << 31] {
            let (old, new) = (ring(4), ring(16));
            let tail = head.saturating_sub(2).max(1);
            (head.saturating_sub(3).max(1)..=head)
                .for_each(|sequence| old.publish(sequence, sequence as usize * 64, 7));
            (head.saturating_sub(3).max(1)..tail).for_each(|sequence| old.mark_dead(sequence));
            old.copy_to(&new, tail, head);
            old.mark_moved();
            for sequence in head.saturating_sub(20).max(1)..head + 10 {
                let expected = match sequence {
                    _ if sequence > head => Entry::NotYet,
                    _ if sequence >= tail => Entry::Alive(sequence as usize % (1 << 32) * 64),
                    _ => Entry::Gone,
                };
                assert_eq!(new.look(sequence), expected, "sequence {sequence}, head {head}");
                let length = matches!(expected, Entry::Alive(_)).then_some(7);
                assert_eq!(new.length_bytes(sequence), length);
                assert_eq!(old.look(sequence), Entry::Moved);
            }
        }
    }
}
