//! A reader record of this process's file, kept by a connection and by the samples that were taken with its pins.
//!
//! Samples are not counted. Invariants:
//! - O1: a record stays while its connection keeps it or any of its pins is set. Only the connection sets pins; each sample owns
//!   one that is set.
//! - O2: a record of which its connection lets go while a pin is set is an *orphan*: its cell keeps it, and the flag there is set
//!   before the pins are read once more. The sample that releases the last pin finds the flag (pair 9 of `protocol`).
//! - O3: a sample whose pin is released touches the cell alone, which is never freed. It may be another record's cell by then, so
//!   the flag is a hint; the record in the cell is looked at under its lock, and taken out once.

pub(crate) mod places;

use self::places::PlaceMemory;
use crate::{
    domain::{process_file::OwnRecord, publisher_mapping::PublisherMapping},
    os::{asymmetric_fence, fork},
    protocol::{
        layout::ReaderRecord,
        reader::{is_unpinned, make_orphan},
        shared::InRegion,
        sync::{AtomicU64, Ordering::Relaxed},
    },
};
use std::sync::{Arc, Mutex, PoisonError};

/// The place of one orphan. Its flag is read at each release, and cells are written seldom, so they share cache lines.
#[derive(Default)]
pub(crate) struct OrphanCell {
    /// Not 0: there may be an orphan.
    pub(crate) flag: AtomicU64,
    orphan: Mutex<Option<Arc<OwnedRecord>>>,
}

impl OrphanCell {
    /// Frees the orphan if there is one and none of its pins is set.
    #[cold]
    pub(crate) fn free_orphan(&self) {
        let orphan = lock(&self.orphan, |orphan| orphan.take_if(|orphan| is_unpinned(orphan.record())));
        drop(orphan); // not under the lock: it may unmap, and leave the domain
    }
}

/// Cells that are allocated together. Aligned: a publisher's own memory may lie beside them.
#[repr(align(128))]
struct CellBlock([OrphanCell; CELLS_PER_BLOCK]);

/// They fill whole lines, 1.5 KiB.
const CELLS_PER_BLOCK: usize = 64;

static UNUSED_CELLS: Mutex<Vec<&'static OrphanCell>> = Mutex::new(Vec::new());

/// A cell that no record uses.
fn take_cell() -> &'static OrphanCell {
    lock(&UNUSED_CELLS, |cells| {
        if cells.is_empty() {
            let block = CellBlock(std::array::from_fn(|_| OrphanCell::default()));
            cells.extend(&Box::leak(Box::new(block)).0);
        }
        cells.pop().unwrap_or_else(|| Box::leak(Box::default()))
    })
}

/// No child begins with the lock taken.
fn lock<T, R>(mutex: &Mutex<T>, run: impl FnOnce(&mut T) -> R) -> R {
    fork::without_fork(|_| run(&mut mutex.lock().unwrap_or_else(PoisonError::into_inner)))
}

/// A record that is free again when this is dropped. A pin of 0 is free. Control path: takes and releases use what it keeps, but do
/// not read it.
pub(crate) struct OwnedRecord {
    /// Keeps the pinned samples mapped.
    pub(crate) mapping: Arc<PublisherMapping>,
    /// In the process file, which the domain keeps.
    own: OwnRecord,
    pub(crate) cell: &'static OrphanCell,
    /// Keeps the places of the samples, and the domain.
    pub(crate) memory: Arc<PlaceMemory>,
}

impl OwnedRecord {
    /// `own` was taken from the process file of the domain.
    pub(crate) fn new(memory: Arc<PlaceMemory>, mapping: Arc<PublisherMapping>, own: OwnRecord) -> Arc<OwnedRecord> {
        Arc::new(OwnedRecord { mapping, own, cell: take_cell(), memory })
    }

    /// The record, which is this connection's for as long as `self` is kept.
    pub(crate) fn record(&self) -> &InRegion<ReaderRecord> {
        &self.own.record
    }

    /// The connection is about to drop it: its last sample frees the record, or the connection does.
    pub(crate) fn leave(self: &Arc<OwnedRecord>) {
        if !is_unpinned(self.record()) {
            lock(&self.cell.orphan, |orphan| *orphan = Some(self.clone()));
            make_orphan(&self.cell.flag, asymmetric_fence::heavy);
            self.cell.free_orphan();
        }
    }
}

impl Drop for OwnedRecord {
    fn drop(&mut self) {
        // No pin is set (O1).
        if self.memory.domain.epoch.is_current() {
            self.memory.domain.process.free_record(self.own);
            self.cell.flag.store(0, Relaxed); // the lock publishes it to the next record
            lock(&UNUSED_CELLS, |cells| cells.push(self.cell));
        }
    }
}
