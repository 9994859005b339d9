//! The flag whether a sample uses a place of its subscription's private memory. The thread that takes reads the flag,
//! and writes only a place that is not used; the thread that drops the sample ends the use (pair 10).

use crate::protocol::sync::{AtomicU64, Site, acquire_order, release};

/// The flag of a place: its value is not 0 if a sample uses the place.
#[derive(Debug, Default)]
#[repr(transparent)]
pub(crate) struct InUse(AtomicU64);

impl InUse {
    /// Creates the flag of a place that a sample uses from now on. The flag is written with a plain store, like the
    /// rest of the place: no other thread reads it yet (L1).
    #[inline(always)]
    pub(crate) fn begun() -> InUse {
        InUse(AtomicU64::new(1))
    }

    /// Sets the flag of an existing place: loom's atomics cannot be overwritten with [`InUse::begun`].
    #[cfg(all(test, feature = "loom"))]
    pub(crate) fn begin(&self) {
        self.0.store(1, crate::protocol::sync::Ordering::Relaxed);
    }

    /// Whether the place's use is over: no sample reads it any more (10).
    #[inline(always)]
    pub(crate) fn is_over(&self) -> bool {
        self.0.load(acquire_order(Site::PlaceLook)) == 0
    }

    /// Ends the sample's use of the place, after the last read (10).
    #[inline(always)]
    pub(crate) fn end(&self) {
        self.0.store(0, release(Site::PlaceEnd));
    }
}
