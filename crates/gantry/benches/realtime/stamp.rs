//! Readings of the clock that are not taken before what stands before them: a processor may read its counter while it still waits
//! for a message's bytes, unless a carrier happens to have a fence behind them.

use crate::ticks;

/// Now, when everything before this is done.
#[inline(always)]
pub fn now() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instruction exists on every x86-64 CPU.
    unsafe {
        core::arch::x86_64::_mm_lfence();
    }
    ticks::now() // elsewhere the system's clock, which is read in order
}
