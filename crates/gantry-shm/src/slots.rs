//! A publisher's private books: which slot is free, retained in the history, or retired and perhaps still read.
//!
//! Used by `publisher` alone; plain data without shared memory, so that it is tested by itself. A slot is at any time in
//! exactly one place: free, loaned, retained, or retired. Nothing here allocates after [`Slots::add`] made the slot.

use std::collections::VecDeque;

/// The books.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    free: Vec<u32>,
    /// Slots of the samples `tail..=head`, oldest first.
    retained: VecDeque<u32>,
    /// Sequence of the oldest retained sample, or of the next one if none is.
    tail: u64,
    /// Out of the history, marked dead; a reader may still have them pinned.
    retired: Vec<(u64, u32)>,
    count: u32,
}

impl Slots {
    /// No slots yet; the first sample will be number 1.
    pub(crate) fn new() -> Slots {
        Slots { tail: 1, ..Slots::default() }
    }

    /// Adds `count` new, free slots. Makes room for them everywhere they can ever be.
    pub(crate) fn add(&mut self, count: u32) {
        let total = (self.count + count) as usize;
        self.free.reserve(total - self.free.len());
        self.retained.reserve(total - self.retained.len());
        self.retired.reserve(total - self.retired.len());
        // The lowest is taken first, so that little-used slots stay untouched.
        self.free.extend((self.count..self.count + count).rev());
        self.count += count;
    }

    /// How many slots there are.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Sequence of the oldest retained sample.
    pub(crate) fn tail(&self) -> u64 {
        self.tail
    }

    /// How many samples the history holds.
    pub(crate) fn retained(&self) -> usize {
        self.retained.len()
    }

    /// How many slots are out on loan.
    pub(crate) fn loaned(&self) -> usize {
        self.count as usize - self.free.len() - self.retained.len() - self.retired.len()
    }

    /// A free slot, the one freed last: its lines are the likeliest to be in the cache.
    pub(crate) fn take_free(&mut self) -> Option<u32> {
        self.free.pop()
    }

    /// Whether [`Slots::take_free`] would give one.
    pub(crate) fn has_free(&self) -> bool {
        !self.free.is_empty()
    }

    /// A loaned slot comes back unpublished.
    pub(crate) fn give_back(&mut self, slot: u32) {
        self.free.push(slot);
    }

    /// A loaned slot becomes the newest sample.
    pub(crate) fn retain(&mut self, slot: u32) {
        self.retained.push_back(slot);
    }

    /// The oldest sample leaves the history; returns its sequence. Its entry must be marked dead before the next fence.
    pub(crate) fn retire_oldest(&mut self) -> Option<u64> {
        let slot = self.retained.pop_front()?;
        let sequence = self.tail;
        self.retired.push((sequence, slot));
        self.tail += 1;
        Some(sequence)
    }

    /// Frees every retired sample that is not in `held`, which is sorted.
    pub(crate) fn free_unheld(&mut self, held: &[u64]) {
        let free = &mut self.free;
        self.retired.retain(|&(sequence, slot)| {
            let is_held = held.binary_search(&sequence).is_ok();
            if !is_held {
                free.push(slot);
            }
            is_held
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_goes_round_and_is_never_in_two_places() {
        let mut slots = Slots::new();
        slots.add(3);
        let (a, b) = (slots.take_free().unwrap(), slots.take_free().unwrap());
        assert_ne!(a, b);
        slots.retain(a);
        slots.retain(b);
        assert_eq!((slots.retire_oldest(), slots.tail()), (Some(1), 2));
        slots.free_unheld(&[1]);
        assert_eq!((slots.take_free(), slots.retained(), slots.loaned()), (Some(2), 1, 1));
        slots.free_unheld(&[2]);
        assert_eq!(slots.take_free(), Some(a), "the slot freed last comes first");
    }

    #[test]
    fn an_unpublished_loan_comes_back() {
        let mut slots = Slots::new();
        slots.add(1);
        let slot = slots.take_free().unwrap();
        assert_eq!((slots.loaned(), slots.take_free()), (1, None));
        slots.give_back(slot);
        assert_eq!((slots.loaned(), slots.take_free()), (0, Some(slot)));
    }
}
