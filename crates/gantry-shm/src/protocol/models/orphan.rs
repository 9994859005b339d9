//! Model of a record that its connection and its samples keep. The steps are those of `subscribe::owned_record`; the memory that the
//! record keeps mapped is a cell.

use super::check::Model;
use crate::protocol::{
    layout::ReaderRecord,
    reader::{is_unpinned, make_orphan, release_sample},
    sync::{AtomicU64, Ordering::Relaxed, Site, full_fence},
};
use loom::{cell::UnsafeCell, sync::Mutex, thread};
use std::sync::Arc;

/// The connection and two samples are dropped at once.
pub(super) const ORPHAN: Model =
    Model { run, preemptions: None, needs: &[Site::ReleaseFence, Site::OrphanFence, Site::Unpin] };

#[derive(Default)]
struct Record {
    words: ReaderRecord,
    flag: AtomicU64,
    /// Whether the record is in its cell.
    is_kept: Mutex<bool>,
    is_unmapped: UnsafeCell<bool>,
}

// SAFETY: the cell is used as the protocol allows, or loom reports it.
unsafe impl Sync for Record {}
// SAFETY: as above.
unsafe impl Send for Record {}

impl Record {
    /// Fails if another thread may unmap meanwhile, or did.
    fn read(&self) {
        // SAFETY: loom reports any concurrent access.
        assert!(!self.is_unmapped.with(|is_unmapped| unsafe { *is_unmapped }), "a read of memory that is not mapped");
    }

    fn free(&self) {
        self.read(); // once
        // SAFETY: as above.
        self.is_unmapped.with_mut(|is_unmapped| unsafe { *is_unmapped = true });
    }

    fn free_orphan(&self) {
        let mut is_kept = self.is_kept.lock().unwrap();
        if *is_kept && is_unpinned(&self.words) {
            *is_kept = false;
            self.free();
        }
    }

    fn drop_sample(&self, pin: usize) {
        self.read();
        let fence = || _ = full_fence(Site::ReleaseFence);
        if release_sample(&self.words.pins[pin], &self.flag, fence) {
            self.free_orphan();
        }
    }

    fn drop_connection(&self) {
        if is_unpinned(&self.words) {
            return self.free();
        }
        *self.is_kept.lock().unwrap() = true;
        make_orphan(&self.flag, || _ = full_fence(Site::OrphanFence));
        self.free_orphan();
    }
}

fn run() {
    let record = Arc::new(Record::default());
    let samples = [0, 1].map(|pin| {
        record.words.pins[pin].store(1, Relaxed);
        let record = record.clone();
        thread::spawn(move || record.drop_sample(pin))
    });
    record.drop_connection();
    samples.into_iter().for_each(|sample| sample.join().unwrap());
    // SAFETY: the other threads ended.
    assert!(record.is_unmapped.with(|is_unmapped| unsafe { *is_unmapped }), "nobody freed the record");
}
