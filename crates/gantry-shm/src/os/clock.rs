//! The clock that all processes of a machine share, for stamps, lifespans, deadlines and leases.

use rustix::time::{ClockId, clock_gettime};

/// CLOCK_MONOTONIC. Neither allocates nor makes system calls (vDSO).
#[inline]
pub(crate) fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    (now.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(now.tv_nsec as u64)
}
