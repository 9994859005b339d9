//! The flag whether a sample still uses a place. A place is private memory of a subscription for one sample that was
//! taken. The thread that takes writes only to a place whose flag is clear; the thread that drops the sample clears the
//! flag (pair 10 of `protocol`).

use crate::protocol::sync::{AtomicU64, Site, acquire_order, release};

/// The flag of a place: its value is not 0 if a sample uses the place.
#[derive(Debug, Default)]
#[repr(transparent)]
pub(crate) struct InUse(AtomicU64);

impl InUse {
    /// Creates the flag of a place that a sample uses from now on. The flag is written with a plain store, like the
    /// rest of the place: no other thread reads the place yet (`places`, L1).
    #[inline(always)]
    pub(crate) fn begun() -> InUse {
        InUse(AtomicU64::new(1))
    }

    /// Sets the flag of an existing place: loom's atomics cannot be overwritten with [`InUse::begun`].
    #[cfg(all(test, feature = "loom"))]
    pub(crate) fn begin(&self) {
        self.0.store(1, crate::protocol::sync::Ordering::Relaxed);
    }

    /// Whether the sample's use is over, so that no thread reads the place any more (pair 10).
    #[inline(always)]
    pub(crate) fn is_over(&self) -> bool {
        self.0.load(acquire_order(Site::PlaceLook)) == 0
    }

    /// Ends the sample's use of the place, after the last read (pair 10).
    #[inline(always)]
    pub(crate) fn end(&self) {
        self.0.store(0, release(Site::PlaceEnd));
    }
}
