//! Models of memory that an owner and its samples keep. The steps are taken from `subscribe::owned_record`; a loom cell
//! stands for the memory that the owner keeps.

use super::check::Model;
use crate::protocol::{
    layout::ReaderRecord,
    place::InUse,
    reader::{is_unpinned, make_orphan, may_be_orphan, unpin},
    sync::{AtomicU64, Ordering::Relaxed, Site, full_fence},
};
use loom::{cell::UnsafeCell, sync::Mutex, thread};
use std::sync::Arc;

/// A model in which a connection and two samples of its record are dropped at the same time.
pub(super) const RECORD: Model =
    Model { run: run::<ReaderRecord>, preemptions: None, needs: &[Site::ReleaseFence, Site::OrphanFence, Site::Unpin] };

/// A model in which a subscription and two samples that were copied to its places are dropped at the same time.
pub(super) const PLACES: Model =
    Model { run: run::<Places>, preemptions: None, needs: &[Site::ReleaseFence, Site::OrphanFence, Site::PlaceEnd] };

/// The words by which samples hold memory: pins or places.
trait Holds: Default + 'static {
    fn begin(&self, sample: usize);
    fn end(&self, sample: usize);
    fn is_released(&self) -> bool;
}

impl Holds for ReaderRecord {
    fn begin(&self, sample: usize) {
        self.pins[sample].store(1, Relaxed);
    }

    fn end(&self, sample: usize) {
        unpin(&self.pins[sample]);
    }

    fn is_released(&self) -> bool {
        is_unpinned(self)
    }
}

type Places = [InUse; 2];

impl Holds for Places {
    fn begin(&self, sample: usize) {
        self[sample].begin();
    }

    fn end(&self, sample: usize) {
        self[sample].end();
    }

    fn is_released(&self) -> bool {
        self.iter().all(InUse::is_over)
    }
}

#[derive(Default)]
struct Memory<W> {
    words: W,
    flag: AtomicU64,
    /// Whether the memory is in its cell.
    is_kept: Mutex<bool>,
    is_freed: UnsafeCell<bool>,
}

// SAFETY: the model accesses `is_freed` only through loom's `UnsafeCell`, which reports each concurrent access.
unsafe impl<W> Sync for Memory<W> {}
// SAFETY: as above.
unsafe impl<W> Send for Memory<W> {}

impl<W: Holds> Memory<W> {
    /// Reads the memory; fails if another thread frees the memory at the same time, or has freed it.
    fn read(&self) {
        // SAFETY: loom reports any concurrent access.
        assert!(!self.is_freed.with(|is_freed| unsafe { *is_freed }), "a read of memory that is gone");
    }

    fn free(&self) {
        self.read(); // fails if the memory was freed before
        // SAFETY: as above.
        self.is_freed.with_mut(|is_freed| unsafe { *is_freed = true });
    }

    fn free_orphan(&self) {
        let mut is_kept = self.is_kept.lock().unwrap();
        if *is_kept && self.words.is_released() {
            *is_kept = false;
            self.free();
        }
    }

    fn drop_sample(&self, sample: usize) {
        self.read();
        self.words.end(sample);
        if may_be_orphan(&self.flag, || _ = full_fence(Site::ReleaseFence)) {
            self.free_orphan();
        }
    }

    fn drop_owner(&self) {
        if self.words.is_released() {
            return self.free();
        }
        *self.is_kept.lock().unwrap() = true;
        make_orphan(&self.flag, || _ = full_fence(Site::OrphanFence));
        self.free_orphan();
    }
}

fn run<W: Holds>() {
    let memory = Arc::new(Memory::<W>::default());
    let samples = [0, 1].map(|sample| {
        memory.words.begin(sample);
        let memory = memory.clone();
        thread::spawn(move || memory.drop_sample(sample))
    });
    memory.drop_owner();
    samples.into_iter().for_each(|sample| sample.join().unwrap());
    // SAFETY: the other threads ended.
    assert!(memory.is_freed.with(|is_freed| unsafe { *is_freed }), "no thread freed the memory");
}
