//! Types that may lie in shared memory, and the one way to load from memory that is mapped read-only.
//!
//! Used by every file that touches a region. Invariants:
//! - S1: a [`Shared`] type has no padding, no pointer and no invalid bit pattern.
//! - S2: memory of another process is loaded through [`acquire`] or `Relaxed` alone: std promises atomic loads
//!   from read-only memory only for `Relaxed` ("Atomic accesses to read-only memory", `std::sync::atomic`).

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::*, fence};

#[cfg(not(all(target_pointer_width = "64", target_os = "linux")))]
compile_error!("the engine needs 64-bit Linux: 8-byte atomic loads from read-only memory are promised nowhere else");

/// A type that may be laid over the bytes of a region.
///
/// # Safety
/// S1 holds, and every field that changes after the region is linked is an atomic.
pub(crate) unsafe trait Shared {}

// SAFETY: four or eight plain bytes, any pattern is a value (S1), and an atomic.
unsafe impl Shared for AtomicU32 {}
// SAFETY: as above.
unsafe impl Shared for AtomicU64 {}
// SAFETY: arrays add no padding to elements that have none.
unsafe impl<T: Shared, const N: usize> Shared for [T; N] {}

/// Acquire load that is sound on read-only mappings: a `Relaxed` load, then the fence.
#[inline]
pub(crate) fn acquire(word: &AtomicU64) -> u64 {
    let value = word.load(Relaxed);
    fence(Acquire);
    value
}
