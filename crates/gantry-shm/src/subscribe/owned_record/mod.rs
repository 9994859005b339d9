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

use self::places::{Place, Places};
use crate::{
    domain::{Domain, process_file::OwnRecord, publisher_mapping::PublisherMapping},
    os::{asymmetric_fence, fork},
    protocol::{
        layout::{PINS_PER_RECORD, ReaderRecord},
        reader::{is_unpinned, make_orphan},
        shared::InRegion,
        sync::{AtomicU64, Ordering::Relaxed},
    },
};
use std::{
    ptr::NonNull,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

/// The place of one orphan. Aligned: its flag is read at each release.
#[derive(Default)]
#[repr(align(128))]
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

/// Cells that are allocated together: each alone would waste as much again for its alignment.
const CELLS_PER_BLOCK: usize = 16;

static UNUSED_CELLS: Mutex<Vec<&'static OrphanCell>> = Mutex::new(Vec::new());

/// A cell that no record uses.
fn take_cell() -> &'static OrphanCell {
    lock(&UNUSED_CELLS, |cells| {
        if cells.is_empty() {
            let block: &'static [OrphanCell; CELLS_PER_BLOCK] = Box::leak(Box::default());
            cells.extend(block);
        }
        cells.pop().unwrap_or_else(|| Box::leak(Box::default()))
    })
}

/// No child begins with the lock taken.
fn lock<T, R>(mutex: &Mutex<T>, run: impl FnOnce(&mut T) -> R) -> R {
    fork::without_fork(|_| run(&mut mutex.lock().unwrap_or_else(PoisonError::into_inner)))
}

/// A record that is free again when this is dropped. A pin of 0 is free. Aligned: it is read at each release, and a publisher's
/// own memory may lie beside it.
#[repr(align(128))]
pub(crate) struct OwnedRecord {
    /// Keeps the pinned samples mapped.
    mapping: Arc<PublisherMapping>,
    /// In the process file, which `domain` keeps.
    own: OwnRecord,
    cell: &'static OrphanCell,
    /// The place for the first pin, and those for the others, which a subscription that holds one sample at a time does not need.
    first_place: OnceLock<Places>,
    other_places: OnceLock<Places>,
    domain: Arc<Domain>,
}

impl OwnedRecord {
    /// `own` was taken from the process file of `domain`.
    pub(crate) fn new(domain: Arc<Domain>, mapping: Arc<PublisherMapping>, own: OwnRecord) -> Arc<OwnedRecord> {
        let cell = take_cell();
        let (first_place, other_places) = Default::default();
        Arc::new(OwnedRecord { mapping, own, cell, first_place, other_places, domain })
    }

    /// The place of a pin. Allocates once for the first pin, and once for the others.
    #[inline]
    pub(crate) fn place(&self, index: usize) -> NonNull<Place> {
        let (places, first) = if index == 0 { (&self.first_place, 0) } else { (&self.other_places, 1) };
        places.get_or_init(|| self.make_places(first)).place(index - first)
    }

    /// Places for the first pin alone, or for the others.
    #[cold]
    fn make_places(&self, first: usize) -> Places {
        let pins = if first == 0 { &self.own.record.pins[..1] } else { &self.own.record.pins[first..] };
        Places::new(pins, self.mapping.inline_bytes(), (self.domain.epoch, self.cell, self.mapping.gid))
    }

    /// Makes all places now.
    pub(crate) fn allocate_places(&self) {
        (0..PINS_PER_RECORD).for_each(|index| _ = self.place(index));
    }

    /// The record, which is this connection's for as long as `self` is kept.
    #[inline]
    pub(crate) fn record(&self) -> &InRegion<ReaderRecord> {
        &self.own.record
    }

    /// The connection is dropped: its last sample frees the record, or this does.
    pub(crate) fn leave(self: Arc<OwnedRecord>) {
        if !is_unpinned(self.record()) {
            let cell = self.cell;
            lock(&cell.orphan, |orphan| *orphan = Some(self));
            make_orphan(&cell.flag, asymmetric_fence::heavy);
            cell.free_orphan();
        }
    }
}

impl Drop for OwnedRecord {
    fn drop(&mut self) {
        // No pin is set (O1).
        if self.domain.epoch.is_current() {
            self.domain.process.free_record(self.own);
            self.cell.flag.store(0, Relaxed); // the lock publishes it to the next record
            lock(&UNUSED_CELLS, |cells| cells.push(self.cell));
        }
    }
}
