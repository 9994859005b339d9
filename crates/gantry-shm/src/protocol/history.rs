//! A publisher's private books: which slot is free, retained in the history, or retired and perhaps still read.
//!
//! Plain data without shared memory, so that it is tested by itself. A slot is at any time in exactly one state: free, on loan,
//! retained, or retired. Only [`History::add_slot`] and [`History::grow`] allocate.

/// Memory for one sample, header included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slot {
    /// In the publisher's file; a multiple of 64.
    pub(crate) offset: usize,
    pub(crate) bytes: usize,
}

/// The slots of one publisher.
#[derive(Debug)]
pub(crate) struct History {
    free: Vec<Slot>,
    /// Slot of sequence `n` at `n % len`, for `tail..=head`; a power of two, as long as the ring.
    retained: Box<[Slot]>,
    /// Sequence of the oldest retained sample, or of the next one if none is.
    tail: u64,
    /// Sequence of the newest sample, 0 = none yet.
    head: u64,
    retained_bytes: usize,
    /// Out of the history, marked dead; a reader may still have them pinned.
    retired: Vec<(u64, Slot)>,
    /// All slots, and their bytes.
    count: usize,
    bytes: usize,
    free_bytes: usize,
}

impl History {
    /// Empty books for a ring of `capacity` entries; the first sample will be number 1.
    pub(crate) fn new(capacity: usize) -> History {
        let retained = vec![Slot::default(); capacity].into_boxed_slice();
        let (free, retired) = (Vec::new(), Vec::new());
        History { free, retained, tail: 1, head: 0, retained_bytes: 0, retired, count: 0, bytes: 0, free_bytes: 0 }
    }

    /// Makes the history as long as a larger ring.
    pub(crate) fn grow(&mut self, capacity: usize) {
        let mut retained = vec![Slot::default(); capacity].into_boxed_slice();
        for sequence in self.tail..=self.head {
            retained[sequence as usize % capacity] = *self.retained_slot(sequence);
        }
        self.retained = retained;
    }

    #[inline]
    fn retained_slot(&mut self, sequence: u64) -> &mut Slot {
        let mask = self.retained.len() - 1;
        &mut self.retained[sequence as usize & mask]
    }

    /// Adds a new slot, which is on loan. Reserves room for it in every list.
    pub(crate) fn add_slot(&mut self, slot: Slot) {
        self.count += 1;
        self.bytes += slot.bytes;
        self.free.reserve(self.count - self.free.len());
        self.retired.reserve(self.count - self.retired.len());
    }

    /// Number of slots.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Bytes of the slots that are not free.
    pub(crate) fn used_bytes(&self) -> usize {
        self.bytes - self.free_bytes
    }

    /// Sequence of the oldest retained sample.
    #[inline]
    pub(crate) fn tail(&self) -> u64 {
        self.tail
    }

    /// Sequence of the newest sample, 0 = none yet.
    #[inline]
    pub(crate) fn head(&self) -> u64 {
        self.head
    }

    /// Samples in the history.
    #[inline]
    pub(crate) fn retained(&self) -> usize {
        (self.head + 1 - self.tail) as usize
    }

    /// Bytes of the samples in the history.
    #[inline]
    pub(crate) fn retained_bytes(&self) -> usize {
        self.retained_bytes
    }

    /// Slots on loan.
    pub(crate) fn loaned(&self) -> usize {
        self.count - self.free.len() - self.retained() - self.retired.len()
    }

    /// A free slot of at least `bytes`, and at most a quarter larger; of those the one freed last: its lines are the likeliest to
    /// be in the cache.
    #[inline]
    pub(crate) fn take_free(&mut self, bytes: usize) -> Option<Slot> {
        let index = self.free.iter().rposition(|slot| (bytes..=bytes + bytes / 4).contains(&slot.bytes))?;
        let slot = self.free.swap_remove(index); // the last one, as a rule: nothing moves
        self.free_bytes -= slot.bytes;
        Some(slot)
    }

    /// The slot that [`History::take_free`] is likely to give next.
    #[inline]
    pub(crate) fn next_free(&self) -> Option<Slot> {
        self.free.last().copied()
    }

    /// Makes a loaned slot free that was not published.
    pub(crate) fn return_loan(&mut self, slot: Slot) {
        self.free_bytes += slot.bytes;
        self.free.push(slot);
    }

    /// Removes all free slots, so that their memory can be allocated in other sizes.
    pub(crate) fn drain_free(&mut self) -> impl Iterator<Item = Slot> {
        self.count -= self.free.len();
        self.bytes -= self.free_bytes;
        self.free_bytes = 0;
        self.free.drain(..)
    }

    /// A loaned slot becomes the newest sample; returns its sequence. The history holds less than the ring has entries.
    #[inline]
    pub(crate) fn retain(&mut self, slot: Slot) -> u64 {
        self.head += 1;
        self.retained_bytes += slot.bytes;
        *self.retained_slot(self.head) = slot;
        self.head
    }

    /// The oldest sample leaves the history; returns its sequence. Its entry must be marked dead before the next fence.
    #[inline]
    pub(crate) fn retire_oldest(&mut self) -> Option<u64> {
        if self.tail > self.head {
            return None;
        }
        let sequence = self.tail;
        let slot = *self.retained_slot(sequence);
        self.retained_bytes -= slot.bytes;
        self.retired.push((sequence, slot));
        self.tail += 1;
        Some(sequence)
    }

    /// Makes the slot of every retired sample free that is not in `pinned`, which is sorted.
    pub(crate) fn reclaim_unpinned(&mut self, pinned: &[u64]) {
        let (free, free_bytes) = (&mut self.free, &mut self.free_bytes);
        self.retired.retain(|&(sequence, slot)| {
            let is_pinned = pinned.binary_search(&sequence).is_ok();
            if !is_pinned {
                free.push(slot);
                *free_bytes += slot.bytes;
            }
            is_pinned
        });
    }

    /// Bytes of a sample that is retained or retired; 0 if it is neither.
    pub(crate) fn bytes_of(&self, sequence: u64) -> usize {
        if (self.tail..=self.head).contains(&sequence) {
            return self.retained[sequence as usize % self.retained.len()].bytes;
        }
        self.retired.iter().find(|retired| retired.0 == sequence).map_or(0, |retired| retired.1.bytes)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn with_slots(capacity: usize, sizes: &[usize]) -> (History, Vec<Slot>) {
        let mut history = History::new(capacity);
        let mut offset = 0;
        let slots = sizes.iter().map(|&bytes| {
            offset += bytes;
            Slot { offset: offset - bytes, bytes }
        });
        let slots: Vec<Slot> = slots.collect();
        slots.iter().for_each(|&slot| history.add_slot(slot));
        (history, slots)
    }

    #[test]
    fn a_slot_goes_round_and_is_never_in_two_places() {
        let (mut history, slots) = with_slots(4, &[64, 64, 64]);
        assert_eq!(history.loaned(), 3);
        assert_eq!((history.retain(slots[0]), history.retain(slots[1])), (1, 2));
        assert_eq!((history.retire_oldest(), history.tail()), (Some(1), 2));
        history.reclaim_unpinned(&[1]);
        assert_eq!((history.take_free(64), history.retained(), history.loaned()), (None, 1, 1));
        history.reclaim_unpinned(&[2]);
        assert_eq!(history.take_free(64), Some(slots[0]));
        history.return_loan(slots[2]);
        history.return_loan(slots[0]);
        assert_eq!(history.take_free(64), Some(slots[0]), "the slot freed last comes first");
        assert_eq!((history.retire_oldest(), history.retire_oldest()), (Some(2), None));
        assert_eq!((history.bytes_of(2), history.bytes_of(1)), (64, 0));
    }

    #[test]
    fn slots_are_taken_by_size() {
        let (mut history, slots) = with_slots(4, &[64, 1024, 256]);
        slots.iter().for_each(|&slot| history.return_loan(slot));
        assert_eq!(history.take_free(900), Some(slots[1]), "a little too large is good");
        assert_eq!(history.take_free(128), None, "twice as large is a waste");
        assert_eq!(history.take_free(512), None);
        assert_eq!(history.used_bytes(), 1024);
        assert_eq!(history.drain_free().collect::<Vec<_>>(), [slots[0], slots[2]]);
        assert_eq!((history.loaned(), history.used_bytes()), (1, 1024));
    }

    #[test]
    fn growing_keeps_what_is_retained() {
        let (mut history, slots) = with_slots(4, &[64; 4]);
        (0..3).for_each(|index| _ = history.retain(slots[index]));
        history.retire_oldest();
        history.grow(16);
        assert_eq!((history.retained(), history.retained_bytes()), (2, 128));
        assert_eq!((history.retire_oldest(), history.retire_oldest()), (Some(2), Some(3)));
        assert_eq!(history.retired.iter().map(|retired| retired.1).collect::<Vec<_>>(), slots[..3]);
    }
}
