//! Cells that keep memory for samples after the connection or the subscription of these samples is gone.

use super::{OwnedRecord, places::PlaceBlocks};
use crate::{
    os::{asymmetric_fence, fork},
    protocol::{
        reader::{is_unpinned, make_orphan},
        sync::{AtomicU64, Ordering::Relaxed},
    },
};
use std::sync::{Arc, Mutex, PoisonError};

/// Memory that has no owner any more and that only samples still need.
pub(super) enum Orphan {
    /// A reader record, kept until its last pin is released.
    Record(Arc<OwnedRecord>),
    /// The places of a subscription, kept until no sample uses a place.
    Places(PlaceBlocks),
}

impl Orphan {
    /// Whether no sample needs the memory.
    fn is_released(&mut self) -> bool {
        match self {
            Orphan::Record(record) => is_unpinned(record.record()),
            Orphan::Places(places) => places.are_unused(),
        }
    }

    /// Leaves the memory to its samples: the drop of the last sample frees the memory; without samples, this call frees
    /// it (O2).
    pub(super) fn leave(mut self, cell: &'static OrphanCell) {
        if !self.is_released() {
            lock(&cell.orphan, |orphan| *orphan = Some(self));
            let mut is_seen = true;
            make_orphan(&cell.flag, || is_seen = asymmetric_fence::heavy());
            cell.free_orphan();
            look_again();
            if !is_seen {
                lock(&UNSEEN_CELLS, |cells| cells.push(cell));
            }
        }
    }
}

/// The cell of one orphan. Each release of a sample reads the flag, but cells are seldom written, so several cells
/// may share a cache line without loss.
#[derive(Default)]
pub(crate) struct OrphanCell {
    /// A flag that is not 0 if there may be an orphan in the cell.
    pub(crate) flag: AtomicU64,
    orphan: Mutex<Option<Orphan>>,
}

impl OrphanCell {
    /// Returns a cell that is not in use.
    pub(super) fn take() -> &'static OrphanCell {
        look_again();
        lock(&UNUSED_CELLS, |cells| {
            if cells.is_empty() {
                let block = CellBlock(std::array::from_fn(|_| OrphanCell::default()));
                cells.extend(&Box::leak(Box::new(block)).0);
            }
            cells.pop().unwrap_or_else(|| Box::leak(Box::default()))
        })
    }

    /// Makes the cell free again, because the owner of the cell is freed.
    pub(super) fn give_back(&'static self) {
        self.flag.store(0, Relaxed); // the lock publishes it to the next owner
        lock(&UNUSED_CELLS, |cells| cells.push(self));
    }

    /// Frees the orphan if there is one and no sample needs it.
    #[cold]
    pub(crate) fn free_orphan(&self) {
        let orphan = lock(&self.orphan, |orphan| orphan.take_if(Orphan::is_released));
        drop(orphan); // not under the lock, because the drop may unmap memory and leave the domain
    }
}

/// Cells that are allocated together. The alignment prevents false sharing with a publisher's private memory beside
/// the block.
#[repr(align(128))]
struct CellBlock([OrphanCell; CELLS_PER_BLOCK]);

const CELLS_PER_BLOCK: usize = 64;

static UNUSED_CELLS: Mutex<Vec<&'static OrphanCell>> = Mutex::new(Vec::new());
/// Cells whose flag the last sample may have missed, because the kernel refused the heavy fence. The flag becomes
/// visible soon, so these cells are examined again when the next cell is taken or left.
static UNSEEN_CELLS: Mutex<Vec<&'static OrphanCell>> = Mutex::new(Vec::new());

fn look_again() {
    let mut cells = lock(&UNSEEN_CELLS, std::mem::take);
    cells.retain(|cell| {
        cell.free_orphan();
        lock(&cell.orphan, |orphan| orphan.is_some())
    });
    if !cells.is_empty() {
        lock(&UNSEEN_CELLS, |unseen| unseen.append(&mut cells));
    }
}

/// Runs `run` under the lock while no fork can happen, so that no child begins with the lock held.
fn lock<T, R>(mutex: &Mutex<T>, run: impl FnOnce(&mut T) -> R) -> R {
    fork::without_fork(|_| run(&mut mutex.lock().unwrap_or_else(PoisonError::into_inner)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{os::asymmetric_fence::tests::KERNEL, subscribe::owned_record::places::Place};

    #[test]
    fn memory_is_freed_though_its_last_sample_missed_the_flag() {
        let run = || {
            asymmetric_fence::register();
            KERNEL.set(Some(false));
            let (blocks, place) = PlaceBlocks::with_a_used_place();
            let cell = blocks.cell();
            Orphan::Places(blocks).leave(cell);
            let is_kept = || lock(&cell.orphan, |orphan| orphan.is_some());
            assert!(is_kept());
            // SAFETY: the test ends the use of the place, like the drop of a sample that does not see the flag yet.
            unsafe { Place::end(place) };
            if asymmetric_fence::heavy() {
                cell.free_orphan(); // this machine's kernel lacks the call, so the sample saw the flag
            }
            OrphanCell::take().give_back();
            assert!(!is_kept(), "the memory of dropped samples stays for good");
        };
        std::thread::spawn(run).join().unwrap(); // a thread, because `KERNEL` is thread-local
    }
}
