//! The word of a ring entry: the sequence of a sample, a mark whether the sample is dead, and the sample's location.
//!
//! One load gives the whole word. The lower half is the dead mark (1 bit) and the low 31 bits of the
//! sequence. For a sample in a slot, the upper half is the slot's offset / 64. For an *inline* sample,
//! whose payload follows in the entry, the upper half is, from the top: 1, the payload's length (11 bits),
//! a flag whether the header's renewed shift is part of the wall time (1 bit), and the rest of the wall
//! time (19 bits, see [`InlineInfo::wall_shift_ns`]).

use crate::protocol::layout::{LENGTH_SHIFT, LINE_BYTES, RENEWED_SHIFT, WALL_BITS, WALL_SHIFT};

const DEAD: u64 = 1 << 31;
const SEQUENCE_MASK: u64 = DEAD - 1;
const INLINE: u64 = 1 << 63;
const RENEWED: u64 = 1 << RENEWED_SHIFT;
const LENGTH_MASK: u64 = 0x7ff;
/// The word of every entry of a ring that was replaced. No inline payload has this length.
pub(crate) const MOVED: u64 = u64::MAX;

/// The state of a sequence by the word of its ring entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// The sample is not published yet.
    NotYet,
    /// The sample is in the slot at this offset.
    Slot(usize),
    /// The sample is in the entry.
    Inline(InlineWord),
    /// The sample has left the history, or its entry is used by a newer sample.
    Gone,
    /// The ring was replaced by a larger ring.
    Moved,
}

/// The word of an entry that holds a living inline sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InlineWord(pub(crate) u64);

/// The properties of an inline sample besides its payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct InlineInfo {
    pub(crate) length_bytes: usize,
    /// CLOCK_MONOTONIC.
    pub(crate) time_ns: u64,
    /// CLOCK_REALTIME - CLOCK_MONOTONIC when the sample was published, minus the same difference in the publisher's
    /// header (`wall_offset_ns`). The value is a few ns as long as the wall clock is not set.
    pub(crate) wall_shift_ns: u64,
    /// The part of `wall_shift_ns` that the publisher's header has since the wall clock was set; 0 if the entry's word
    /// has the whole value.
    pub(crate) renewed_ns: u64,
}

/// The word of a living sample in a slot. `offset` is a multiple of 64 below 2^37.
#[inline]
pub(crate) fn in_slot(offset: usize, sequence: u64) -> u64 {
    ((offset / LINE_BYTES) as u64) << 32 | sequence & SEQUENCE_MASK
}

/// The word of an entry whose sample is dead, or was never published.
#[inline]
pub(crate) fn dead(sequence: u64) -> u64 {
    DEAD | sequence & SEQUENCE_MASK
}

/// The word of an entry after its sample has left the history: `word` with the dead mark.
#[inline]
pub(crate) fn killed(word: u64) -> u64 {
    word | DEAD
}

/// Whether this is the word of a sample in a slot, dead or alive, with this sequence.
pub(crate) fn is_of_slot(word: u64, sequence: u64) -> bool {
    word & (INLINE | SEQUENCE_MASK) == sequence & SEQUENCE_MASK
}

/// The state of the entry for a reader that looks for `sequence`.
///
/// The 31 bits of the sequence wrap, so sequences are compared by their distance. The result is right while reader and
/// publisher are less than 2^30 sequences apart; beyond that, the publisher's head decides (`Reader::is_lapped`).
#[inline]
pub(crate) fn classify(word: u64, sequence: u64) -> Entry {
    if word == MOVED {
        return Entry::Moved;
    }
    let distance = (word.wrapping_sub(sequence) & SEQUENCE_MASK) << 33;
    match distance as i64 {
        0 if word & DEAD != 0 => Entry::Gone,
        0 if word & INLINE != 0 => Entry::Inline(InlineWord(word)),
        0 => Entry::Slot((word >> 32) as usize * LINE_BYTES),
        1.. => Entry::Gone,
        _ => Entry::NotYet,
    }
}

impl InlineWord {
    /// The word of a living inline sample.
    #[inline]
    pub(crate) fn new(info: &InlineInfo, sequence: u64) -> InlineWord {
        let wall = info.wall_shift_ns.wrapping_sub(info.renewed_ns) & ((1 << WALL_BITS) - 1);
        let renewed = u64::from(info.renewed_ns != 0) << RENEWED_SHIFT;
        let place = INLINE | (info.length_bytes as u64) << LENGTH_SHIFT | renewed | wall << WALL_SHIFT;
        InlineWord(place | sequence & SEQUENCE_MASK)
    }

    /// Whether a part of the sample's wall time is in the publisher's header.
    #[inline]
    pub(crate) fn is_renewed(self) -> bool {
        self.0 & RENEWED != 0
    }

    /// The payload's length.
    #[inline]
    pub(crate) fn length_bytes(self) -> usize {
        (self.0 >> LENGTH_SHIFT & LENGTH_MASK) as usize
    }

    /// [`InlineInfo::wall_shift_ns`] without the part that is in the publisher's header.
    #[inline]
    pub(crate) fn wall_shift_ns(self) -> u64 {
        let unused = u64::BITS - WALL_BITS;
        ((self.0 >> WALL_SHIFT << unused) as i64 >> unused) as u64
    }
}

impl InlineInfo {
    /// Whether the entry's word has room for the wall time. The word has no room if the difference between the clocks
    /// has changed by a quarter of a millisecond since the publisher was made or renewed its shift: the wall clock was
    /// set, or the caller passed other times.
    #[inline]
    pub(crate) fn fits(&self) -> bool {
        self.wall_shift_ns.wrapping_sub(self.renewed_ns).wrapping_add(1 << (WALL_BITS - 1)) < 1 << WALL_BITS
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;

    #[test]
    fn an_entry_tells_older_same_dead_and_newer_apart() {
        let word = in_slot(64 * 5, 100);
        assert_eq!(classify(word, 100), Entry::Slot(320));
        assert_eq!(classify(dead(100), 100), Entry::Gone);
        assert_eq!(classify(word, 99), Entry::Gone);
        assert_eq!(classify(word, 101), Entry::NotYet);
        assert_eq!(classify(dead(100), 164), Entry::NotYet);
        assert_eq!(classify(0, 1), Entry::NotYet);
    }

    #[test]
    fn sequences_beyond_31_bits_compare_right() {
        let base = 1 << 31;
        for sequence in [base - 1, base, base + 1, 7 * base - 1, 7 * base] {
            let word = in_slot(64, sequence);
            assert_eq!(classify(word, sequence), Entry::Slot(64));
            assert_eq!(classify(word, sequence + 1), Entry::NotYet);
            assert_eq!(classify(word, sequence - 1), Entry::Gone);
        }
    }

    #[test]
    fn the_largest_offset_survives() {
        let offset = (u32::MAX as usize >> 1) * 64;
        assert_eq!(classify(in_slot(offset, 3), 3), Entry::Slot(offset));
        assert_eq!(classify(MOVED, 3), Entry::Moved);
    }

    #[test]
    fn an_inline_word_keeps_length_and_wall_time() {
        let largest_ns = (1 << (WALL_BITS - 1)) - 1;
        for length_bytes in [0, 1, 48, 1024] {
            for (shift_ns, fits) in
                [(0, true), (largest_ns, true), (!largest_ns, true), (largest_ns + 1, false), (!largest_ns - 1, false)]
            {
                let info = InlineInfo { length_bytes, wall_shift_ns: shift_ns, ..InlineInfo::default() };
                let word = InlineWord::new(&info, 1 << 40 | 77);
                assert_eq!(classify(word.0, 77), Entry::Inline(word));
                assert_eq!((word.length_bytes(), info.fits()), (length_bytes, fits));
                assert!(!fits || word.wall_shift_ns() == shift_ns, "{shift_ns:x}");
                let renewed_ns = 3_600_000_000_000;
                let info = InlineInfo { wall_shift_ns: shift_ns.wrapping_add(renewed_ns), renewed_ns, ..info };
                let word = InlineWord::new(&info, 77);
                assert_eq!((word.length_bytes(), info.fits(), word.is_renewed()), (length_bytes, fits, true));
                assert!(!fits || word.wall_shift_ns() == shift_ns, "{shift_ns:x}");
            }
        }
    }
}
