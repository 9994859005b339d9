//! Slots whose loans were dropped unpublished, on whatever thread, on their way back to their publisher's books.
//!
//! Used by `publisher_file` (which loans keep) and `publisher`. Neither side waits for the other, nor allocates, nor makes a system
//! call, while there are [`CELLS`] slots at most on the way; for more there is a list behind a lock.

use crate::protocol::{history::Slot, layout::LINE_BYTES};
use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, AtomicU64, Ordering::*},
};

/// The publisher looks here every 64 loans: so there are places for these, and as many that were on loan before.
const CELLS: usize = 128;

/// The slots on the way.
pub(crate) struct ReturnedSlots {
    /// A slot each, 0 = none. W: who drops a loan, by compare-and-swap from 0; the publisher, to 0. Both pairs are Release with
    /// Acquire: the loan's last write comes before the slot's next use.
    cells: [AtomicU64; CELLS],
    /// Those that found no place.
    others: Mutex<Vec<Slot>>,
    /// Hints, set after a slot was put there: whether a look at the places, and at the others, is worth it.
    has_some: AtomicBool,
    has_others: AtomicBool,
}

impl ReturnedSlots {
    /// None.
    pub(crate) fn new() -> ReturnedSlots {
        let (has_some, has_others) = (AtomicBool::new(false), AtomicBool::new(false));
        ReturnedSlots { cells: [const { AtomicU64::new(0) }; CELLS], others: Mutex::default(), has_some, has_others }
    }

    /// A loan was dropped.
    pub(crate) fn put(&self, slot: Slot) {
        let word = to_word(slot);
        let is_put = |cell: &AtomicU64| cell.compare_exchange(0, word, Release, Relaxed).is_ok();
        if self.cells.iter().any(is_put) {
            self.has_some.store(true, Release);
        } else {
            self.others.lock().unwrap_or_else(PoisonError::into_inner).push(slot);
            self.has_others.store(true, Release);
        }
    }

    /// Publisher: calls `take` for each slot that came back. Takes a lock only if more than [`CELLS`] did.
    pub(crate) fn take(&self, mut take: impl FnMut(Slot)) {
        if self.has_some.load(Relaxed) && self.has_some.swap(false, Acquire) {
            self.take_cells(&mut take);
        }
        if self.has_others.load(Relaxed) && self.has_others.swap(false, Acquire) {
            self.take_others(&mut take);
        }
    }

    /// The same for a publisher that would fail without: whatever the hints say, and waits for who is just putting one there.
    pub(crate) fn take_all(&self, mut take: impl FnMut(Slot)) {
        self.take_cells(&mut take);
        self.take_others(&mut take);
    }

    fn take_cells(&self, take: &mut impl FnMut(Slot)) {
        for cell in &self.cells {
            let word = cell.swap(0, Acquire);
            if word != 0 {
                take(to_slot(word));
            }
        }
    }

    fn take_others(&self, take: &mut impl FnMut(Slot)) {
        self.others.lock().unwrap_or_else(PoisonError::into_inner).drain(..).for_each(take);
    }
}

/// Offset and length are multiples of 64, below 2^38 (`region`, `MAX_RESERVE_BYTES`); no slot begins at 0.
fn to_word(slot: Slot) -> u64 {
    ((slot.offset / LINE_BYTES) as u64) << 32 | (slot.bytes / LINE_BYTES) as u64
}

fn to_slot(word: u64) -> Slot {
    Slot { offset: (word >> 32) as usize * LINE_BYTES, bytes: word as u32 as usize * LINE_BYTES }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_comes_back_once() {
        let slot = |number: usize| Slot { offset: number * LINE_BYTES, bytes: (1 << 33) + number * LINE_BYTES };
        let (returned, mut back) = (ReturnedSlots::new(), Vec::new());
        for count in [0, 1, CELLS, CELLS + 1, 3 * CELLS] {
            (1..=count).for_each(|number| returned.put(slot(number)));
            returned.take(|slot| back.push(slot));
            back.sort_unstable_by_key(|slot| slot.offset);
            assert_eq!(std::mem::take(&mut back), (1..=count).map(slot).collect::<Vec<_>>());
        }
        std::thread::scope(|scope| {
            const THREADS: usize = 4;
            const SLOTS: usize = 10_000;
            for thread in 0..THREADS {
                let returned = &returned;
                scope.spawn(move || (1..=SLOTS).for_each(|number| returned.put(slot(thread * SLOTS + number))));
            }
            let mut taken = 0;
            while taken < THREADS * SLOTS {
                returned.take(|slot| back.push(slot));
                taken = back.len();
                std::thread::yield_now();
            }
            returned.take_all(|slot| back.push(slot));
            back.sort_unstable_by_key(|slot| slot.offset);
            assert_eq!(back, (1..=THREADS * SLOTS).map(slot).collect::<Vec<_>>());
        });
    }
}
