//! The private list of a publisher's slots: which slots are free, which are retained in the history, and which are
//! retired and perhaps still read.
//!
//! The history is plain data without shared memory, so tests need no publisher. A slot is at any time in exactly
//! one state: free, on loan, retained, or retired. Inline samples have a sequence and no slot. Only
//! [`History::add_slot`] allocates.

use super::layout::LINE_BYTES;
use std::collections::VecDeque;

/// The flag of a retired sequence that a reader has pinned. It is larger than every sequence.
const PINNED: u64 = 1 << 63;

/// Memory for one sample, header included: the upper half of the word is the slot's offset / 64 in the publisher's
/// file, the lower half the slot's bytes / 64. A slot is one word on purpose: two words that were stored separately
/// cannot be forwarded from the store buffer to one 16-byte load. Such a load would wait until all earlier stores have
/// their cache lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slot(u64);

impl Slot {
    /// `offset` and `bytes` are multiples of 64 below 2^38.
    #[inline]
    pub(crate) fn new(offset: usize, bytes: usize) -> Slot {
        Slot(((offset / LINE_BYTES) as u64) << 32 | (bytes / LINE_BYTES) as u64)
    }

    #[inline]
    pub(crate) fn offset(self) -> usize {
        (self.0 >> 32) as usize * LINE_BYTES
    }

    #[inline]
    pub(crate) fn bytes(self) -> usize {
        self.0 as u32 as usize * LINE_BYTES
    }
}

/// The slots of one publisher.
#[derive(Debug)]
pub(crate) struct History {
    free: Vec<Slot>,
    loaned: Vec<Slot>,
    /// The samples from `tail` to `head` that have a slot.
    retained: VecDeque<(u64, Slot)>,
    /// The sequence of the oldest retained sample, or of the next sample if none is retained.
    tail: u64,
    /// The sequence of the newest sample, 0 = none yet.
    head: u64,
    retained_bytes: usize,
    /// The slots of samples that left the history and are marked dead; a reader may still have them pinned. They are in
    /// the order of their sequences. Between the look at the pins and the reclaim, a sequence that is pinned has the
    /// bit [`PINNED`].
    retired: Vec<(u64, Slot)>,
    /// The bytes of all slots.
    bytes: usize,
}

impl History {
    /// Creates an empty history; the first sample will have the sequence 1.
    pub(crate) fn new() -> History {
        let (free, loaned, retained, retired) = (Vec::new(), Vec::new(), VecDeque::new(), Vec::new());
        History { free, loaned, retained, tail: 1, head: 0, retained_bytes: 0, retired, bytes: 0 }
    }

    /// Adds a new slot, which is on loan. Reserves room for it in every list.
    pub(crate) fn add_slot(&mut self, slot: Slot) {
        self.bytes += slot.bytes();
        self.loaned.push(slot);
        let count = self.count();
        self.free.reserve(count - self.free.len());
        self.loaned.reserve(count - self.loaned.len());
        self.retained.reserve(count - self.retained.len());
        self.retired.reserve(count - self.retired.len());
    }

    /// The number of slots.
    pub(crate) fn count(&self) -> usize {
        self.free.len() + self.used()
    }

    /// The number of slots that are not free.
    pub(crate) fn used(&self) -> usize {
        self.loaned.len() + self.retained.len() + self.retired.len()
    }

    /// The bytes of the slots that are not free.
    pub(crate) fn used_bytes(&self) -> usize {
        self.bytes - self.free_bytes()
    }

    /// The bytes of the slots that are free.
    pub(crate) fn free_bytes(&self) -> usize {
        self.free.iter().map(|slot| slot.bytes()).sum()
    }

    /// The sequence of the oldest retained sample.
    #[inline]
    pub(crate) fn tail(&self) -> u64 {
        self.tail
    }

    /// The sequence of the newest sample, 0 = none yet.
    #[inline]
    pub(crate) fn head(&self) -> u64 {
        self.head
    }

    /// The number of samples in the history.
    #[inline]
    pub(crate) fn retained(&self) -> usize {
        (self.head + 1 - self.tail) as usize
    }

    /// The bytes of the slots in the history.
    #[inline]
    pub(crate) fn retained_bytes(&self) -> usize {
        self.retained_bytes
    }

    /// The number of slots on loan.
    pub(crate) fn loaned(&self) -> usize {
        self.loaned.len()
    }

    /// The slot on loan at `offset`. A loan does not contain the slot's size, so that it is two words, which travel in
    /// registers.
    #[inline]
    pub(crate) fn on_loan(&self, offset: usize) -> Option<Slot> {
        self.loaned.iter().rfind(|slot| slot.offset() == offset).copied()
    }

    /// Ends the loan of the slot at `offset`; the caller puts the slot elsewhere.
    #[inline]
    fn end_loan(&mut self, offset: usize) -> Option<Slot> {
        let index = self.loaned.iter().rposition(|slot| slot.offset() == offset)?;
        Some(self.loaned.swap_remove(index))
    }

    /// Takes a free slot of at least `bytes`, and at most twice as large. Of several such slots, the method takes the
    /// slot that was freed last, because its cache lines are most likely still in the cache. Larger slots are left for
    /// longer messages, so that messages of various lengths soon all find free slots.
    #[inline]
    pub(crate) fn take_free(&mut self, bytes: usize) -> Option<Slot> {
        let index = self.find_free(bytes)?;
        let slot = self.free.swap_remove(index); // usually the last slot, so that no slot moves
        self.loaned.push(slot);
        Some(slot)
    }

    /// Whether [`History::take_free`] would find a slot.
    pub(crate) fn has_free(&self, bytes: usize) -> bool {
        self.find_free(bytes).is_some()
    }

    #[inline]
    fn find_free(&self, bytes: usize) -> Option<usize> {
        self.free.iter().rposition(|slot| (bytes..=2 * bytes).contains(&slot.bytes()))
    }

    /// The slot that [`History::take_free`] is likely to return next.
    #[inline]
    pub(crate) fn next_free(&self) -> Option<Slot> {
        self.free.last().copied()
    }

    /// Makes the slot on loan at `offset` free again, without publishing it.
    pub(crate) fn return_loan(&mut self, offset: usize) {
        let slot = self.end_loan(offset);
        self.free.extend(slot);
    }

    /// Removes all free slots, so that their memory can be allocated for other sizes.
    pub(crate) fn drain_free(&mut self) -> impl Iterator<Item = Slot> {
        self.bytes = self.used_bytes();
        self.free.drain(..)
    }

    /// Makes a slot on loan the newest sample, and returns the sample's sequence. The history must hold fewer
    /// samples than the ring has entries.
    #[inline]
    pub(crate) fn retain(&mut self, slot: Slot) -> u64 {
        self.end_loan(slot.offset());
        self.retained_bytes += slot.bytes();
        self.retained.push_back((self.head + 1, slot));
        self.retain_inline()
    }

    /// Adds a newest sample that has no slot, and returns its sequence.
    #[inline]
    pub(crate) fn retain_inline(&mut self) -> u64 {
        self.head += 1;
        self.head
    }

    /// Removes the samples before `end` from the history. Calls `mark_dead` with the sequences of the samples that
    /// have a slot: their entries must be marked dead before the next fence.
    #[inline]
    pub(crate) fn retire_before(&mut self, end: u64, mut mark_dead: impl FnMut(u64)) {
        self.tail = end.min(self.head + 1).max(self.tail);
        while let Some(&(sequence, slot)) = self.retained.front().filter(|(sequence, _)| *sequence < self.tail) {
            self.retained.pop_front();
            self.retained_bytes -= slot.bytes();
            self.retired.push((sequence, slot));
            mark_dead(sequence);
        }
    }

    /// Whether slots wait until no reader has them pinned.
    #[inline]
    pub(crate) fn has_retired(&self) -> bool {
        !self.retired.is_empty()
    }

    /// Notes that a reader has pinned this sample: the next reclaim keeps the sample's slot.
    #[inline]
    pub(crate) fn keep_pinned(&mut self, sequence: u64) {
        let found = self.retired.binary_search_by_key(&sequence, |&(sequence, _)| sequence & !PINNED);
        if let Some((sequence, _)) = found.ok().and_then(|index| self.retired.get_mut(index)) {
            *sequence |= PINNED;
        }
    }

    /// Frees the slot of every retired sample for which [`History::keep_pinned`] was not called since the
    /// last reclaim.
    pub(crate) fn reclaim_unpinned(&mut self) {
        let free = &mut self.free;
        self.retired.retain_mut(|(sequence, slot)| {
            let is_pinned = *sequence & PINNED != 0;
            *sequence &= !PINNED;
            if !is_pinned {
                free.push(*slot);
            }
            is_pinned
        });
    }

    /// The bytes of the slot of a sample that is retained or retired; 0 if the sample has no slot.
    pub(crate) fn bytes_of(&self, sequence: u64) -> usize {
        let mut slots = self.retained.iter().chain(&self.retired);
        slots.find(|slot| slot.0 == sequence).map_or(0, |slot| slot.1.bytes())
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;

    fn with_slots(sizes: &[usize]) -> (History, Vec<Slot>) {
        let mut history = History::new();
        let mut offset = 0;
        let slots = sizes.iter().map(|&bytes| {
            offset += bytes;
            Slot::new(offset - bytes, bytes)
        });
        let slots: Vec<Slot> = slots.collect();
        slots.iter().for_each(|&slot| history.add_slot(slot));
        (history, slots)
    }

    /// Retires the samples before `end`, and returns the samples that had a slot.
    fn retire_before(history: &mut History, end: u64) -> Vec<u64> {
        let mut dead = Vec::new();
        history.retire_before(end, |sequence| dead.push(sequence));
        dead
    }

    #[test]
    fn a_slot_goes_round_and_is_never_in_two_places() {
        let (mut history, slots) = with_slots(&[64, 64, 64]);
        assert_eq!(history.loaned(), 3);
        assert_eq!((history.retain(slots[0]), history.retain(slots[1])), (1, 2));
        assert_eq!((retire_before(&mut history, 2), history.tail()), (vec![1], 2));
        history.keep_pinned(1);
        history.reclaim_unpinned();
        assert_eq!((history.take_free(64), history.retained(), history.loaned()), (None, 1, 1));
        history.keep_pinned(2);
        history.reclaim_unpinned();
        assert_eq!(history.take_free(64), Some(slots[0]));
        history.return_loan(slots[2].offset());
        history.return_loan(slots[0].offset());
        assert_eq!(history.take_free(64), Some(slots[0]), "the slot freed last comes first");
        assert_eq!((retire_before(&mut history, 9), retire_before(&mut history, 9)), (vec![2], vec![]));
        assert_eq!((history.tail(), history.bytes_of(2), history.bytes_of(1)), (3, 64, 0));
    }

    #[test]
    fn inline_samples_leave_the_history_in_order_with_the_others() {
        let (mut history, slots) = with_slots(&[64, 128]);
        assert_eq!((history.retain_inline(), history.retain(slots[0])), (1, 2));
        assert_eq!((history.retain_inline(), history.retain(slots[1])), (3, 4));
        assert_eq!((history.retained(), history.retained_bytes(), history.has_retired()), (4, 192, false));
        assert_eq!((retire_before(&mut history, 2), history.has_retired()), (vec![], false));
        assert_eq!((retire_before(&mut history, 4), history.has_retired()), (vec![2], true));
        assert_eq!((retire_before(&mut history, 1), history.tail()), (vec![], 4), "the tail never goes back");
        assert_eq!((history.retained(), history.retained_bytes(), history.loaned()), (1, 128, 0));
    }

    #[test]
    fn slots_are_taken_by_size() {
        let (mut history, slots) = with_slots(&[64, 1024, 256]);
        slots.iter().for_each(|&slot| history.return_loan(slot.offset()));
        assert_eq!(history.take_free(900), Some(slots[1]), "a little too large is good");
        assert_eq!(history.take_free(127), None, "more than twice as large is a waste");
        assert_eq!(history.take_free(512), None);
        assert_eq!(history.used_bytes(), 1024);
        assert_eq!(history.drain_free().collect::<Vec<_>>(), [slots[0], slots[2]]);
        assert_eq!((history.loaned(), history.used_bytes()), (1, 1024));
    }
}
