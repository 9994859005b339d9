//! Hints that a cache line will be needed. They never fault, whatever the address; elsewhere than on x86-64 and aarch64, and
//! under loom, they do nothing.

/// The line will be read.
#[inline(always)]
pub(crate) fn for_reading(place: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(loom)))]
    // SAFETY: a hint: reads and writes nothing, and does not fault.
    unsafe {
        std::arch::asm!("prefetcht0 [{}]", in(reg) place, options(nostack, preserves_flags, readonly));
    }
    #[cfg(all(target_arch = "aarch64", not(loom)))]
    // SAFETY: as above.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{}]", in(reg) place, options(nostack, preserves_flags, readonly));
    }
    let _ = place;
}

/// The line will be written.
#[inline(always)]
pub(crate) fn for_writing(place: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(loom)))]
    // SAFETY: a hint: reads and writes nothing, and does not fault; processors without it take it for a no-op.
    unsafe {
        std::arch::asm!("prefetchw [{}]", in(reg) place, options(nostack, preserves_flags, readonly));
    }
    #[cfg(all(target_arch = "aarch64", not(loom)))]
    // SAFETY: as above.
    unsafe {
        std::arch::asm!("prfm pstl1keep, [{}]", in(reg) place, options(nostack, preserves_flags, readonly));
    }
    let _ = place;
}

/// The line was written, and another core will want it next: it moves from this core's cache to the shared one. Processors
/// without the instruction take it for a no-op.
#[inline(always)]
pub(crate) fn hand_over(place: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(loom)))]
    // SAFETY: a hint: it changes no memory, register or flag, and does not fault.
    unsafe {
        std::arch::asm!("cldemote [{}]", in(reg) place, options(nostack, preserves_flags, readonly));
    }
    let _ = place;
}
