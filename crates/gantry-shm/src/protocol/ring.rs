//! The ring of a publisher: entries, each with a word that says where a sample is, and with the sample itself if it is inline.
//!
//! Invariant N1: a sample has left the history before its entry is written again; if it has a slot, its entry was marked dead
//! before that slot can be freed.

use crate::{
    crash::{self, Point},
    protocol::{
        entry::{self, Entry, InlineInfo, InlineWord, MOVED, Trailer},
        layout::{INLINE_OFFSET, LINE_BYTES},
        shared::InRegion,
        sync::{AtomicU64, Ordering::Relaxed, Site, acquire_fence, is_weakened, release, release_fence},
    },
};

/// Words of an entry before an inline payload: its word, and its detail.
const HEADER_WORDS: usize = INLINE_OFFSET / 8;

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
    words: InRegion<[AtomicU64]>,
    mask: u64,
    entry_words: usize,
}

impl Ring {
    /// `words` are those of a power of two of entries, of `entry_bytes` each.
    pub(crate) fn new(words: InRegion<[AtomicU64]>, entry_bytes: usize) -> Ring {
        let entry_words = entry_bytes / 8;
        Ring { words, mask: (words.len() / entry_words) as u64 - 1, entry_words }
    }

    /// The words of a sequence's entry.
    #[inline]
    fn entry(&self, sequence: u64) -> &[AtomicU64] {
        let first = (sequence & self.mask) as usize * self.entry_words;
        &self.words[first..first + self.entry_words]
    }

    /// Address of a sequence's entry, for prefetching.
    #[inline]
    pub(crate) fn address(&self, sequence: u64) -> *const u8 {
        self.entry(sequence).as_ptr().cast()
    }

    /// Number of entries.
    pub(crate) fn capacity(&self) -> usize {
        self.mask as usize + 1
    }

    /// Reader: the state of a sequence. Every store before that of the entry's word is seen after this (1).
    #[inline]
    pub(crate) fn look(&self, sequence: u64) -> Entry {
        let word = self.entry(sequence)[0].load(Relaxed);
        acquire_fence(Site::EntryLook);
        entry::classify(word, sequence)
    }

    /// Reader: length of a living sample in a slot, from the entry, so that the slot's header need not be fetched. `None` if the
    /// publisher went on meanwhile: then the length is in the header, which the pin keeps.
    #[inline]
    pub(crate) fn length_bytes(&self, sequence: u64) -> Option<u64> {
        let length_bytes = self.entry(sequence)[1].load(Relaxed);
        // Not if that site is weakened: this fence would hide that `look` needs its own.
        if !is_weakened(Site::EntryLook) {
            acquire_fence(Site::RecheckFence); // (7)
        }
        let is_unchanged = matches!(self.look(sequence), Entry::Slot(_));
        is_unchanged.then_some(length_bytes)
    }

    /// Reader: copies a living inline sample; `payload` gets its words, the last one with bytes behind the payload. `None`: the
    /// publisher went on meanwhile, or the word makes no sense.
    #[inline(always)]
    pub(crate) fn copy(&self, sequence: u64, word: InlineWord, payload: &mut [u64]) -> Option<InlineInfo> {
        let (header, rest) = self.entry(sequence).split_at(HEADER_WORDS);
        let words = word.payload_words();
        let (from, trailer) = rest.split_at_checked(words)?;
        let time_ns = header[1].load(Relaxed);
        payload.get_mut(..words)?.iter_mut().zip(from).for_each(|(to, from)| *to = from.load(Relaxed));
        let (mut wall_shift_ns, mut request) = (word.wall_shift_ns(), [0; 3]);
        if word.has_trailer() {
            let trailer = trailer.first_chunk::<{ size_of::<Trailer>() / 8 }>()?;
            let load = |index: usize| trailer[index].load(Relaxed);
            (wall_shift_ns, request) = (load(0), [load(1), load(2), load(3)]);
        }
        acquire_fence(Site::RecheckFence); // (7)
        let is_unchanged = header[0].load(Relaxed) == word.0 || is_weakened(Site::Recheck);
        is_unchanged.then_some(InlineInfo { length_bytes: word.length_bytes(), time_ns, wall_shift_ns, request })
    }

    /// Length of a sample in a slot that may have been retired, but not so long ago that its entry was used again.
    pub(crate) fn length_bytes_of(&self, sequence: u64) -> Option<usize> {
        let entry = self.entry(sequence);
        let word = entry[0].load(Relaxed);
        entry::is_of_slot(word, sequence).then(|| entry[1].load(Relaxed) as usize)
    }

    /// Reader: likely length of a living sample in a slot, for prefetching only.
    #[inline]
    pub(crate) fn length_hint(&self, sequence: u64) -> usize {
        self.entry(sequence)[1].load(Relaxed) as usize
    }

    /// Publisher: the entry of the next sequence, whose last sample is dead from here on (7). The caller stores the other words,
    /// then the first (Release).
    #[inline]
    fn overwrite(&self, sequence: u64) -> &[AtomicU64] {
        let entry = self.entry(sequence);
        if !is_weakened(Site::OverwriteMark) {
            entry[0].store(entry::dead(sequence.wrapping_sub(self.mask + 1)), Relaxed);
        }
        release_fence(Site::OverwriteFence);
        crash::point(Point::EntryOverwritten);
        entry
    }

    /// Publisher: announces the sample in the slot at `offset`, which is written (1).
    #[inline]
    pub(crate) fn publish(&self, sequence: u64, offset: usize, length_bytes: u64) {
        let entry = self.overwrite(sequence);
        entry[1].store(length_bytes, Relaxed);
        crash::point(Point::EntryWritten);
        entry[0].store(entry::in_slot(offset, sequence), release(Site::EntryStore));
        crash::point(Point::EntryAlive);
    }

    /// Publisher: writes and announces an inline sample, which fits in the entry with its trailer.
    #[inline(always)]
    pub(crate) fn publish_inline(&self, sequence: u64, payload: &[u64], info: &InlineInfo) {
        let entry = self.overwrite(sequence);
        let (header, rest) = entry.split_at(HEADER_WORDS);
        header[1].store(info.time_ns, Relaxed);
        rest.iter().zip(payload).for_each(|(to, from)| to.store(*from, Relaxed));
        if info.needs_trailer() {
            rest[payload.len()..].iter().zip(info.trailer()).for_each(|(to, from)| to.store(from, Relaxed));
        }
        crash::point(Point::EntryWritten);
        header[0].store(InlineWord::new(info, sequence).0, release(Site::EntryStore));
        crash::point(Point::EntryAlive);
    }

    /// Publisher: marks the entry of a sample with a slot that leaves the history dead (N1). Relaxed: the SeqCst fence that follows
    /// orders it.
    #[inline]
    pub(crate) fn mark_dead(&self, sequence: u64) {
        if is_weakened(Site::DeadMark) {
            return;
        }
        let word = &self.entry(sequence)[0];
        word.store(entry::killed(word.load(Relaxed)), Relaxed);
        crash::point(Point::EntryDead);
    }

    /// Publisher: fills `new`, which no reader sees yet and whose entries are as large, with the state of every sequence up to
    /// `head`.
    pub(crate) fn copy_to(&self, new: &Ring, tail: u64, head: u64) {
        let capacity = new.capacity() as u64;
        for index in 0..capacity {
            // The sequences up to `head` that share the ring; an entry before the first sample is 0, older than all.
            let sequence = (head + 1 + index).wrapping_sub(capacity);
            let (old, new) = (self.entry(sequence), new.entry(sequence));
            old.iter().zip(new).for_each(|(old, new)| new.store(old.load(Relaxed), Relaxed));
            match sequence as i64 {
                ..=0 => new[0].store(0, Relaxed),
                _ if sequence < tail => new[0].store(entry::dead(sequence), Relaxed),
                _ => {}
            }
        }
    }

    /// Publisher: sends readers that look here to the descriptor, which is stored (5). Marks every entry, since a reader may look
    /// at any of them.
    pub(crate) fn mark_moved(&self) {
        if !is_weakened(Site::MovedMark) {
            self.words.chunks_exact(self.entry_words).for_each(|entry| {
                entry[0].store(MOVED, release(Site::MovedStore));
                crash::point(Point::EntryMoved);
            });
        }
    }
}

#[cfg(all(test, not(loom)))]
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
                let info = InlineInfo { length_bytes: 16, time_ns: sequence, wall_shift_ns: 5, request: [0; 3] };
                match sequence % 2 {
                    0 => old.publish(sequence, sequence as usize % 1000 * 64, 7),
                    _ => old.publish_inline(sequence, &[sequence, 2 * sequence], &info),
                }
            }
            (head.saturating_sub(3).max(1)..tail).for_each(|sequence| old.mark_dead(sequence));
            old.copy_to(&new, tail, head);
            old.mark_moved();
            for sequence in head.saturating_sub(20).max(1)..head + 10 {
                let found = new.look(sequence);
                let mut payload = [0; 3];
                match found {
                    Entry::Slot(offset) => {
                        assert_eq!((offset, new.length_bytes(sequence)), (sequence as usize % 1000 * 64, Some(7)));
                        assert!(sequence.is_multiple_of(2));
                    }
                    Entry::Inline(word) => {
                        let info = new.copy(sequence, word, &mut payload).unwrap();
                        assert_eq!((info.length_bytes, info.time_ns, info.wall_shift_ns), (16, sequence, 5));
                        assert_eq!(payload, [sequence, 2 * sequence, 0]);
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
        assert_eq!(ring.copy(1, word, &mut [0; 6]), Some(info));
        assert_eq!(ring.copy(1, word, &mut [0; 5]), None, "no room");
        ring.overwrite(5);
        assert_eq!(ring.copy(1, word, &mut [0; 6]), None);
        assert_eq!((ring.look(1), ring.look(5)), (Entry::Gone, Entry::NotYet));
    }

    #[test]
    fn a_word_that_makes_no_sense_is_not_copied() {
        let (ring, info) = (ring(4), InlineInfo { length_bytes: 1024, request: [1; 3], ..InlineInfo::default() });
        assert_eq!(ring.copy(1, InlineWord::new(&info, 1), &mut [0; 200]), None);
        let fits_without_trailer = InlineInfo { length_bytes: 48, ..info };
        assert_eq!(ring.copy(1, InlineWord::new(&fits_without_trailer, 1), &mut [0; 200]), None);
    }
}
