//! The clocks that all processes of a machine share, for stamps, lifespans, deadlines and leases.

use rustix::time::{ClockId, clock_gettime};

/// Reads CLOCK_MONOTONIC in ns. Neither allocates nor makes system calls (vDSO).
#[inline]
pub(crate) fn monotonic_ns() -> u64 {
    read(ClockId::Monotonic)
}

/// Reads CLOCK_REALTIME in ns. Neither allocates nor makes system calls (vDSO).
pub(crate) fn realtime_ns() -> u64 {
    read(ClockId::Realtime)
}

#[inline]
fn read(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    (now.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(now.tv_nsec as u64)
}
