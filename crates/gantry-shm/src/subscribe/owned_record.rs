//! A reader record of this process's file, kept by a connection and by the samples that were taken with its pins.
//!
//! Samples are not counted. Invariants:
//! - O1: a record stays while its connection keeps it or any of its pins is set. Only the connection sets pins; each sample owns
//!   one that is set.
//! - O2: a record of which a connection lets go while a pin is set is an *orphan*: it is in `ORPHANS`, and its flag is set before
//!   the pins are read once more. The sample that releases the last pin finds the flag (pair 9 of `protocol`).
//! - O3: a sample whose pin is released touches the flag alone, which is never freed. The flag may be another record's by then, so
//!   it is a hint; the record in `ORPHANS` that is found by its address is looked at under the lock, and freed once.

use crate::{
    domain::Domain,
    os::{asymmetric_fence, fork},
    protocol::{
        layout::ReaderRecord,
        reader::{is_unpinned, make_orphan, release_sample},
        shared::InRegion,
        sync::{AtomicU64, Ordering::Relaxed},
    },
    subscribe::mapping::PublisherMapping,
};
use std::{
    ptr::NonNull,
    sync::{Arc, Mutex, PoisonError},
};

/// On a line of its own: it is read at each release.
#[derive(Default)]
#[repr(align(128))]
struct Flag(AtomicU64);

struct Orphans {
    records: Vec<Arc<OwnedRecord>>,
    unused_flags: Vec<&'static Flag>,
}

static ORPHANS: Mutex<Orphans> = Mutex::new(Orphans { records: Vec::new(), unused_flags: Vec::new() });

/// No child begins with the lock taken.
fn with_orphans<T>(run: impl FnOnce(&mut Orphans) -> T) -> T {
    fork::without_fork(|| run(&mut ORPHANS.lock().unwrap_or_else(PoisonError::into_inner)))
}

/// A record that is free again when this is dropped. A pin of 0 is free. Aligned: it is read at each release, and a publisher's
/// own memory may lie beside it.
#[repr(align(128))]
pub(crate) struct OwnedRecord {
    /// Keeps the pinned samples mapped.
    pub(crate) mapping: Arc<PublisherMapping>,
    /// In the process file, which `domain` keeps.
    pub(crate) record: InRegion<ReaderRecord>,
    pub(crate) epoch: fork::Epoch,
    flag: &'static Flag,
    domain: Arc<Domain>,
}

impl OwnedRecord {
    /// `record` was taken from the process file of `domain`.
    pub(crate) fn new(
        domain: Arc<Domain>,
        mapping: Arc<PublisherMapping>,
        record: InRegion<ReaderRecord>,
    ) -> Arc<OwnedRecord> {
        let flag = with_orphans(|orphans| orphans.unused_flags.pop()).unwrap_or_else(|| Box::leak(Box::default()));
        Arc::new(OwnedRecord { mapping, record, epoch: domain.epoch, flag, domain })
    }

    #[inline]
    pub(crate) fn pin(&self, index: usize) -> &AtomicU64 {
        &self.record.pins[index]
    }

    /// The sample with that pin of `record`, in this process, is dropped.
    ///
    /// # Safety
    /// The pin is set.
    #[inline]
    pub(crate) unsafe fn release(record: NonNull<OwnedRecord>, index: usize) {
        // SAFETY: the pin is set (O1). No reference to the record outlives this statement (O3).
        let &OwnedRecord { record: words, flag, .. } = unsafe { record.as_ref() };
        if release_sample(&words.pins[index], &flag.0, asymmetric_fence::light) {
            OwnedRecord::free_orphan(record.as_ptr());
        }
    }

    /// The connection is dropped: its last sample frees the record, or this does.
    pub(crate) fn leave(self: Arc<OwnedRecord>) {
        if !is_unpinned(&self.record) {
            let (record, flag) = (Arc::as_ptr(&self), self.flag);
            with_orphans(|orphans| orphans.records.push(self));
            make_orphan(&flag.0, asymmetric_fence::heavy);
            OwnedRecord::free_orphan(record);
        }
    }

    /// Frees the orphan at that address if there is one, and none of its pins is set.
    #[cold]
    fn free_orphan(record: *const OwnedRecord) {
        let orphan = with_orphans(|orphans| {
            let is_free = |orphan: &Arc<_>| std::ptr::eq(Arc::as_ptr(orphan), record) && is_unpinned(&orphan.record);
            let index = orphans.records.iter().position(is_free)?;
            Some(orphans.records.swap_remove(index))
        });
        drop(orphan); // not under the lock: it may unmap, and leave the domain
    }
}

impl Drop for OwnedRecord {
    fn drop(&mut self) {
        // No pin is set (O1).
        if self.epoch.is_current() {
            self.domain.process.free_record(self.record);
            self.flag.0.store(0, Relaxed); // the lock publishes it to the next record
            with_orphans(|orphans| orphans.unused_flags.push(self.flag));
        }
    }
}
