//! Types that may lie in shared memory, and references to them.
//!
//! - S1: a [`Shared`] type has no padding, no pointer and no invalid bit pattern.
//! - S2: memory of another process is loaded `Relaxed`, followed by an acquire fence where that is needed
//!   (`sync::acquire`): std promises atomic loads from read-only memory only for `Relaxed` ("Atomic accesses to
//!   read-only memory", `std::sync::atomic`).

#[cfg(not(all(test, feature = "loom")))]
use crate::protocol::sync::{AtomicU32, AtomicU64, Futex};
use std::{ops::Deref, ptr::NonNull};

#[cfg(not(all(target_pointer_width = "64", target_os = "linux")))]
compile_error!("the engine needs 64-bit Linux: 8-byte atomic loads from read-only memory are promised nowhere else");

/// A type whose values may be read in place in the bytes of a region.
///
/// # Safety
/// S1 holds, and every field that changes after the region is linked is an atomic.
#[cfg(not(all(test, feature = "loom")))]
pub(crate) unsafe trait Shared {}

// SAFETY: four bytes without padding, of which every bit pattern is a value (S1), and an atomic.
#[cfg(not(all(test, feature = "loom")))]
unsafe impl Shared for AtomicU32 {}
// SAFETY: as for `AtomicU32`, with eight bytes.
#[cfg(not(all(test, feature = "loom")))]
unsafe impl Shared for AtomicU64 {}
// SAFETY: a transparent wrapper of `AtomicU32`.
#[cfg(not(all(test, feature = "loom")))]
unsafe impl Shared for Futex {}
// SAFETY: arrays add no padding to elements that have none.
#[cfg(not(all(test, feature = "loom")))]
unsafe impl<T: Shared, const N: usize> Shared for [T; N] {}

/// A reference to a shared struct in memory that the holder of the reference keeps mapped.
pub(crate) struct InRegion<T: ?Sized>(NonNull<T>);

// SAFETY: the value is used as a `&T`, and a `T` that is `Sync` may be used from any thread.
unsafe impl<T: Sync + ?Sized> Send for InRegion<T> {}
// SAFETY: as for `Send`.
unsafe impl<T: Sync + ?Sized> Sync for InRegion<T> {}

impl<T: ?Sized> InRegion<T> {
    /// Refers to `target` beyond its lifetime.
    ///
    /// # Safety
    /// The memory stays mapped and remains a `T` for as long as the result or a copy of it is used.
    #[inline]
    pub(crate) unsafe fn new(target: &T) -> InRegion<T> {
        InRegion(NonNull::from(target))
    }
}

impl<T: ?Sized> Clone for InRegion<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for InRegion<T> {}

impl<T: ?Sized> Deref for InRegion<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the caller of `new` promised that the memory stays mapped and a `T`.
        unsafe { self.0.as_ref() }
    }
}
