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

use self::places::Places;
use crate::{
    domain::{Domain, publisher_mapping::PublisherMapping},
    os::{asymmetric_fence, fork},
    protocol::{
        layout::ReaderRecord,
        reader::{is_unpinned, make_orphan},
        shared::InRegion,
        sync::{AtomicU64, Ordering::Relaxed},
    },
};
use std::sync::{Arc, Mutex, PoisonError};

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
        let orphan = lock(&self.orphan, |orphan| orphan.take_if(|orphan| is_unpinned(&orphan.record)));
        drop(orphan); // not under the lock: it may unmap, and leave the domain
    }
}

static UNUSED_CELLS: Mutex<Vec<&'static OrphanCell>> = Mutex::new(Vec::new());

/// No child begins with the lock taken.
fn lock<T, R>(mutex: &Mutex<T>, run: impl FnOnce(&mut T) -> R) -> R {
    fork::without_fork(|_| run(&mut mutex.lock().unwrap_or_else(PoisonError::into_inner)))
}

/// A record that is free again when this is dropped. A pin of 0 is free. Aligned: it is read at each release, and a publisher's
/// own memory may lie beside it.
#[repr(align(128))]
pub(crate) struct OwnedRecord {
    /// Keeps the pinned samples mapped.
    _mapping: Arc<PublisherMapping>,
    /// In the process file, which `domain` keeps.
    pub(crate) record: InRegion<ReaderRecord>,
    cell: &'static OrphanCell,
    /// A place for each pin.
    pub(crate) places: Places,
    domain: Arc<Domain>,
}

impl OwnedRecord {
    /// `record` was taken from the process file of `domain`.
    pub(crate) fn new(
        domain: Arc<Domain>,
        mapping: Arc<PublisherMapping>,
        record: InRegion<ReaderRecord>,
    ) -> Arc<OwnedRecord> {
        let cell = lock(&UNUSED_CELLS, Vec::pop).unwrap_or_else(|| Box::leak(Box::default()));
        let places = Places::new(&record, mapping.inline_bytes(), (domain.epoch, cell, mapping.gid));
        Arc::new(OwnedRecord { _mapping: mapping, record, cell, places, domain })
    }

    /// The connection is dropped: its last sample frees the record, or this does.
    pub(crate) fn leave(self: Arc<OwnedRecord>) {
        if !is_unpinned(&self.record) {
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
            self.domain.process.free_record(self.record);
            self.cell.flag.store(0, Relaxed); // the lock publishes it to the next record
            lock(&UNUSED_CELLS, |cells| cells.push(self.cell));
        }
    }
}
