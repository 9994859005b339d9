//! Ordered readings of the clock. Without a fence, a processor may read its counter while it still waits for a
//! message's bytes.

use crate::ticks;

/// Reads the time after all preceding loads and stores have completed.
#[inline(always)]
pub fn now() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instruction exists on every x86-64 CPU.
    unsafe {
        core::arch::x86_64::_mm_lfence();
    }
    ticks::now() // elsewhere, the system's clock, which is read in order
}
