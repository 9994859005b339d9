//! The ring of a publisher: its entries have a word that locates a sample, and contain the sample itself if it
//! is inline.
//!
//! Invariant N1: a sample has left the history before its entry is written again; if it has a slot, its entry was
//! marked dead before that slot can be freed.

use crate::{
    crash::{self, Point},
    protocol::{
        entry::{self, Entry, InlineInfo, InlineWord, MOVED},
        layout::{INLINE_OFFSET, LINE_BYTES},
        line,
        shared::InRegion,
        sync::{AtomicU64, Ordering::Relaxed, Site, acquire_fence, is_weakened, release, release_fence},
    },
};

/// The number of words of an entry before an inline payload: the entry's word and its detail.
const HEADER_WORDS: usize = INLINE_OFFSET / 8;
/// The numbers of payload words in an entry's first cache line and in each further line. The words of a line are copied
/// together by a few instructions without a branch. In loom's models, a line has one word.
const FIRST_WORDS: usize = if cfg!(all(test, feature = "loom")) { 1 } else { LINE_WORDS - HEADER_WORDS };
const LINE_WORDS: usize = if cfg!(all(test, feature = "loom")) { 1 } else { LINE_BYTES / 8 };

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

/// A ring in a memory region that the holder of this value keeps mapped.
#[derive(Clone, Copy)]
pub(crate) struct Ring {
    words: InRegion<[AtomicU64]>,
    /// Mask and entry size have 32 bits to keep the struct small, because each connection has one.
    mask: u32,
    entry_words: u32,
}

impl Ring {
    /// `words` are the memory of the entries: the number of entries is a power of two, and each entry
    /// has `entry_bytes`.
    pub(crate) fn new(words: InRegion<[AtomicU64]>, entry_bytes: usize) -> Ring {
        let entry_words = entry_bytes / 8;
        assert!(entry_words >= HEADER_WORDS + FIRST_WORDS && words.len() >= entry_words, "{entry_bytes} bytes");
        assert!(entry_words <= u32::MAX as usize, "{entry_bytes} bytes");
        // The capacity is rounded down to a power of two, for any argument, because `entry` relies on this. Publisher
        // and readers both limit the capacity to 2^31.
        let log2_capacity = (words.len() / entry_words).ilog2().min(u32::BITS - 1);
        Ring { words, mask: (1 << log2_capacity) - 1, entry_words: entry_words as u32 }
    }

    /// The words of the entry of `sequence`: the entry's word and detail, then the words of an inline payload.
    #[inline(always)]
    fn entry(&self, sequence: u64) -> (&[AtomicU64; HEADER_WORDS], &[AtomicU64]) {
        let (index, entry_words) = (sequence & u64::from(self.mask), self.entry_words as usize);
        let first = index as usize * entry_words;
        // SAFETY: `words` has the words of `mask + 1` entries (`Ring::new`), and `index` is at most `mask`.
        let words = unsafe { self.words.get_unchecked(first..first + entry_words) };
        // SAFETY: an entry is longer than its header (`Ring::new`).
        let (header, payload) = unsafe { words.split_at_unchecked(HEADER_WORDS) };
        // SAFETY: the header has `HEADER_WORDS` words.
        (unsafe { &*header.as_ptr().cast() }, payload)
    }

    /// The address of a sequence's entry, for prefetching.
    #[inline]
    pub(crate) fn address(&self, sequence: u64) -> *const u8 {
        self.entry(sequence).0.as_ptr().cast()
    }

    /// The number of entries.
    pub(crate) fn capacity(&self) -> usize {
        self.mask as usize + 1
    }

    /// Reader: the state of a sequence. After this call, the reader sees every store that precedes the store of the
    /// entry's word (1).
    #[inline]
    pub(crate) fn look(&self, sequence: u64) -> Entry {
        let word = self.entry(sequence).0[0].load(Relaxed);
        acquire_fence(Site::EntryLook);
        entry::classify(word, sequence)
    }

    /// Reader: the length of a living sample in a slot, loaded from the ring's entry, so that the slot's header need
    /// not be fetched. `None` if the publisher has overwritten the entry meanwhile: then the length is in the header,
    /// which the pin protects.
    #[inline]
    pub(crate) fn length_bytes(&self, sequence: u64) -> Option<u64> {
        let length_bytes = self.entry(sequence).0[1].load(Relaxed);
        // A model that weakens `EntryLook` leaves this fence out, because this fence would hide that `look` needs its
        // own fence.
        if !is_weakened(Site::EntryLook) {
            acquire_fence(Site::RecheckFence); // (7)
        }
        let is_unchanged = matches!(self.look(sequence), Entry::Slot(_));
        is_unchanged.then_some(length_bytes)
    }

    /// Reader: copies a living inline sample; `payload` gets the words of the sample, and the words after them up to
    /// the end of a cache line. `renewed_ns` is in the publisher's header. Returns `None` if the publisher has
    /// overwritten the entry meanwhile, or `payload` has no room.
    #[inline(always)]
    pub(crate) fn copy(
        &self,
        sequence: u64,
        word: InlineWord,
        renewed_ns: &AtomicU64,
        payload: &mut [u64],
    ) -> Option<InlineInfo> {
        let (_, from) = self.entry(sequence);
        let lines = more_lines(word.length_bytes());
        let (from, from_lines) = from.split_first_chunk::<FIRST_WORDS>()?;
        let (to, to_lines) = payload.split_first_chunk_mut::<FIRST_WORDS>()?;
        let from_lines = from_lines.as_chunks::<LINE_WORDS>().0.get(..lines)?;
        let to_lines = to_lines.as_chunks_mut::<LINE_WORDS>().0.get_mut(..lines)?;
        line::load(from, to);
        to_lines.iter_mut().zip(from_lines).for_each(|(to, from)| line::load(from, to));
        self.inline_info(sequence, word, renewed_ns)
    }

    /// Reader: the properties of a living inline sample, whose payload, if it is wanted, was loaded before. Returns
    /// `None` if the publisher has overwritten the entry meanwhile. `renewed_ns` is in the publisher's header.
    #[inline(always)]
    pub(crate) fn inline_info(&self, sequence: u64, word: InlineWord, renewed_ns: &AtomicU64) -> Option<InlineInfo> {
        let [first, detail] = self.entry(sequence).0;
        let time_ns = detail.load(Relaxed);
        let renewed_ns = if word.is_renewed() { renewed_ns.load(Relaxed) } else { 0 };
        acquire_fence(Site::RecheckFence); // (7)
        let is_unchanged = first.load(Relaxed) == word.0 || is_weakened(Site::Recheck);
        let (length_bytes, wall_shift_ns) = (word.length_bytes(), word.wall_shift_ns().wrapping_add(renewed_ns));
        is_unchanged.then_some(InlineInfo { length_bytes, time_ns, wall_shift_ns, renewed_ns })
    }

    /// The length of a sample in a slot, even if the sample was retired. `None` if the entry was used again since.
    pub(crate) fn length_bytes_of(&self, sequence: u64) -> Option<usize> {
        let ([word, length_bytes], _) = self.entry(sequence);
        entry::is_of_slot(word.load(Relaxed), sequence).then(|| length_bytes.load(Relaxed) as usize)
    }

    /// The length of a sample that was published recently, for reports: the entry may be overwritten meanwhile.
    pub(crate) fn recent_length_bytes(&self, sequence: u64) -> Option<usize> {
        match self.look(sequence) {
            Entry::Inline(word) => Some(word.length_bytes()),
            _ => self.length_bytes_of(sequence),
        }
    }

    /// Reader: the likely length of a living sample in a slot, for prefetching only.
    #[inline]
    pub(crate) fn length_hint(&self, sequence: u64) -> usize {
        self.entry(sequence).0[1].load(Relaxed) as usize
    }

    /// Publisher: marks the old sample in the ring entry of `sequence` as dead (7). The caller then stores the other
    /// words of the entry, and at last `word` (Release).
    #[inline(always)]
    fn overwrite(&self, sequence: u64, word: &AtomicU64) {
        if !is_weakened(Site::OverwriteMark) {
            word.store(entry::dead(sequence.wrapping_sub(self.capacity() as u64)), Relaxed);
        }
        release_fence(Site::OverwriteFence);
        crash::point(Point::EntryOverwritten);
    }

    /// Publisher: announces the sample in the slot at `offset`, which was written before (1).
    #[inline]
    pub(crate) fn publish(&self, sequence: u64, offset: usize, length_bytes: u64) {
        let ([word, detail], _) = self.entry(sequence);
        self.overwrite(sequence, word);
        detail.store(length_bytes, Relaxed);
        crash::point(Point::EntryWritten);
        word.store(entry::in_slot(offset, sequence), release(Site::EntryStore));
        crash::point(Point::EntryAlive);
    }

    /// Publisher: writes and announces an inline sample, which fits in the entry. `payload` extends to the end of its
    /// last line.
    #[inline(always)]
    pub(crate) fn publish_inline(&self, sequence: u64, payload: &[u64], info: &InlineInfo) {
        let ([word, detail], to) = self.entry(sequence);
        self.overwrite(sequence, word);
        detail.store(info.time_ns, Relaxed);
        if let (Some((to, to_lines)), Some((from, from_lines))) =
            (to.split_first_chunk::<FIRST_WORDS>(), payload.split_first_chunk::<FIRST_WORDS>())
        {
            let lines = from_lines.as_chunks::<LINE_WORDS>().0.iter().take(more_lines(info.length_bytes));
            line::store(from, to);
            to_lines.as_chunks().0.iter().zip(lines).for_each(|(to, from)| line::store(from, to));
        }
        crash::point(Point::EntryWritten);
        word.store(InlineWord::new(info, sequence).0, release(Site::EntryStore));
        crash::point(Point::EntryAlive);
    }

    /// Publisher: marks the entry of a sample in a slot as dead, because the sample leaves the history (N1).
    /// Relaxed: the SeqCst fence that follows orders it.
    #[inline]
    pub(crate) fn mark_dead(&self, sequence: u64) {
        if is_weakened(Site::DeadMark) {
            return;
        }
        let word = &self.entry(sequence).0[0];
        word.store(entry::killed(word.load(Relaxed)), Relaxed);
        crash::point(Point::EntryDead);
    }

    /// Publisher: fills `new`, which no reader sees yet, with the state of every sequence up to `head`. The entries
    /// of both rings have the same size.
    pub(crate) fn copy_to(&self, new: &Ring, tail: u64, head: u64) {
        let capacity = new.capacity() as u64;
        for index in 0..capacity {
            // The loop visits the last `capacity` sequences up to `head`. An entry for a sequence before the first
            // sample gets the sequence 0, which is older than all samples.
            let sequence = (head + 1 + index).wrapping_sub(capacity);
            let ((old_header, old), (new_header, new)) = (self.entry(sequence), new.entry(sequence));
            let words = old_header.iter().chain(old).zip(new_header.iter().chain(new));
            words.for_each(|(old, new)| new.store(old.load(Relaxed), Relaxed));
            match sequence as i64 {
                ..=0 => new_header[0].store(0, Relaxed),
                _ if sequence < tail => new_header[0].store(entry::dead(sequence), Relaxed),
                _ => {}
            }
        }
    }

    /// Publisher: marks every entry as moved, because a reader may look at any of them. A reader that finds the mark
    /// loads the descriptor of the new ring, which is stored already (pair 5).
    pub(crate) fn mark_moved(&self) {
        if !is_weakened(Site::MovedMark) {
            self.words.chunks_exact(self.entry_words as usize).for_each(|entry| {
                entry[0].store(MOVED, release(Site::MovedStore));
                crash::point(Point::EntryMoved);
            });
        }
    }
}

/// The number of an inline payload's cache lines after the first line of the entry.
#[inline(always)]
fn more_lines(length_bytes: usize) -> usize {
    length_bytes.saturating_sub(8 * FIRST_WORDS).div_ceil(8 * LINE_WORDS)
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;

    fn ring(capacity: usize) -> Ring {
        let words: &[AtomicU64] = Box::leak((0..capacity * LINE_BYTES / 8).map(|_| AtomicU64::new(0)).collect());
        // SAFETY: leaked memory stays.
        Ring::new(unsafe { InRegion::new(words) }, LINE_BYTES)
    }

    #[test]
    fn a_larger_ring_says_what_the_smaller_one_said() {
        for head in [0u64, 1, 5, 9, (1 << 31) + 3, 3 << 31] {
            let (old, new) = (ring(4), ring(16));
            let tail = head.saturating_sub(2).max(1);
            for sequence in head.saturating_sub(3).max(1)..=head {
                let info =
                    InlineInfo { length_bytes: 16, time_ns: sequence, wall_shift_ns: 5, ..InlineInfo::default() };
                match sequence % 2 {
                    0 => old.publish(sequence, sequence as usize % 1000 * 64, 7),
                    _ => old.publish_inline(sequence, &[sequence, 2 * sequence, 0, 0, 0, 0], &info),
                }
            }
            (head.saturating_sub(3).max(1)..tail).for_each(|sequence| old.mark_dead(sequence));
            old.copy_to(&new, tail, head);
            old.mark_moved();
            for sequence in head.saturating_sub(20).max(1)..head + 10 {
                let found = new.look(sequence);
                let mut payload = [0; 6];
                match found {
                    Entry::Slot(offset) => {
                        assert_eq!((offset, new.length_bytes(sequence)), (sequence as usize % 1000 * 64, Some(7)));
                        assert!(sequence.is_multiple_of(2));
                    }
                    Entry::Inline(word) => {
                        let info = new.copy(sequence, word, &AtomicU64::new(0), &mut payload).unwrap();
                        assert_eq!((info.length_bytes, info.time_ns, info.wall_shift_ns), (16, sequence, 5));
                        assert_eq!(payload, [sequence, 2 * sequence, 0, 0, 0, 0]);
                    }
                    Entry::NotYet => assert!(sequence > head),
                    Entry::Gone => assert!(sequence < tail),
                    Entry::Moved => panic!("the new ring is in use"),
                }
                assert_eq!(matches!(found, Entry::Slot(_) | Entry::Inline(_)), (tail..=head).contains(&sequence));
                assert_eq!(old.look(sequence), Entry::Moved);
            }
        }
    }

    #[test]
    fn a_sample_that_was_overwritten_is_not_copied() {
        let (ring, info) = (ring(4), InlineInfo { length_bytes: 48, ..InlineInfo::default() });
        ring.publish_inline(1, &[1; 6], &info);
        let Entry::Inline(word) = ring.look(1) else { panic!("{:?}", ring.look(1)) };
        let copy = |payload: &mut [u64]| ring.copy(1, word, &AtomicU64::new(0), payload);
        assert_eq!(copy(&mut [0; 6]), Some(info));
        assert_eq!(copy(&mut [0; 5]), None, "no room");
        ring.overwrite(5, &ring.entry(5).0[0]);
        assert_eq!(copy(&mut [0; 6]), None);
        assert_eq!((ring.look(1), ring.look(5)), (Entry::Gone, Entry::NotYet));
    }

    #[test]
    fn a_word_that_makes_no_sense_is_not_copied() {
        let (ring, info) = (ring(4), InlineInfo { length_bytes: 49, ..InlineInfo::default() });
        assert_eq!(ring.copy(1, InlineWord::new(&info, 1), &AtomicU64::new(0), &mut [0; 200]), None);
    }
}
