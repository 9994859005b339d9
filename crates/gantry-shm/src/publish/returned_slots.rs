//! The slots of loans that were dropped unpublished, on any thread, on their way back to their publisher.
//!
//! Neither the dropping thread nor the publisher waits for the other, allocates, or makes a system call, while at most
//! [`CELLS`] slots are on their way; further slots go to a list behind a lock. Crossbeam's queue is not used: it gives
//! each slot a ticket, and the publisher would wait for a thread that is preempted after it took a ticket and before it
//! stored its slot.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, AtomicUsize, Ordering::*},
};

/// The number of cells: few publishers have more slots, and a publisher reads the cells only when no slot is free.
const CELLS: usize = 128;

/// The slots that were returned and not taken yet.
pub(crate) struct ReturnedSlots {
    /// Whether slots were returned since the last take. So a publisher that publishes all of its loans reads one cache
    /// line, and not the cells, which have left its cache after a large message. W: the drop of a loan, after it has
    /// stored its slot; the publisher, before it reads the cells. Each write is a read-modify-write, so that an Acquire
    /// of the last drop's Release also sees the slots of earlier drops.
    has_some: AtomicBool,
    /// Each cell has the offset of a slot, or 0 for none (no slot begins at 0). W: the drop of a loan, by
    /// compare-and-swap from 0; the publisher, which swaps the cell back to 0. The store of the drop is Release, the
    /// swap of the publisher is Acquire: the loan's last write comes before the slot's next use.
    cells: [AtomicUsize; CELLS],
    /// The slots that found no free cell.
    others: Mutex<Vec<usize>>,
}

impl ReturnedSlots {
    /// Creates a list without slots.
    pub(crate) fn new() -> ReturnedSlots {
        ReturnedSlots {
            has_some: AtomicBool::new(false),
            cells: [const { AtomicUsize::new(0) }; CELLS],
            others: Mutex::default(),
        }
    }

    /// Adds the slot at `offset`, whose loan was dropped.
    pub(crate) fn put(&self, offset: usize) {
        if !self.cells.iter().any(|cell| cell.compare_exchange(0, offset, Release, Relaxed).is_ok()) {
            self.others.lock().unwrap_or_else(PoisonError::into_inner).push(offset);
        }
        self.has_some.swap(true, Release);
    }

    /// For the publisher: calls `take` with the offset of each returned slot, except a slot that is being returned now.
    pub(crate) fn take(&self, mut take: impl FnMut(usize)) {
        if !self.has_some.load(Relaxed) || !self.has_some.swap(false, Acquire) {
            return;
        }
        for cell in self.cells.iter().filter(|cell| cell.load(Relaxed) != 0) {
            take(cell.swap(0, Acquire)); // only the publisher takes
        }
        if let Ok(mut others) = self.others.try_lock() {
            others.drain(..).for_each(take);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_comes_back_once() {
        let slot = |number: usize| number * 64;
        let (returned, mut back) = (ReturnedSlots::new(), Vec::new());
        let counts: &[usize] = if cfg!(miri) { &[1, CELLS + 1] } else { &[0, 1, CELLS, CELLS + 1, 3 * CELLS] };
        for &count in counts {
            (1..=count).for_each(|number| returned.put(slot(number)));
            returned.take(|slot| back.push(slot));
            back.sort_unstable();
            assert_eq!(std::mem::take(&mut back), (1..=count).map(slot).collect::<Vec<_>>());
        }
        std::thread::scope(|scope| {
            const THREADS: usize = 4;
            const SLOTS: usize = if cfg!(miri) { 10 } else { 10_000 };
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
            returned.take(|slot| back.push(slot));
            back.sort_unstable();
            assert_eq!(back, (1..=THREADS * SLOTS).map(slot).collect::<Vec<_>>());
        });
    }
}
