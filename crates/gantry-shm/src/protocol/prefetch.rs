//! Hints that a cache line will be needed. They never fault, whatever the address; elsewhere than on x86-64 and aarch64, and
//! under loom, they do nothing.

/// Largest message that is fetched line by line: a core cannot wait for many more lines at once.
const SMALL_BYTES: usize = 512;

/// Hints that the line will be read.
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

/// Hints that the line will be written.
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

/// Hints that another core needs the written line next: it moves from this core's cache to the shared one. Processors
/// without the instruction take it for a no-op.
#[inline(always)]
pub(crate) fn demote(place: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(loom)))]
    // SAFETY: a hint: it changes no memory, register or flag, and does not fault.
    unsafe {
        std::arch::asm!("cldemote [{}]", in(reg) place, options(nostack, preserves_flags, readonly));
    }
    let _ = place;
}

/// Gives `hint` the lines of a message that are needed first: all lines of a small one, since processors find lines by themselves
/// only when some have come; of a larger one as [`both_ends`].
#[inline(always)]
pub(crate) fn message(first: *const u8, length_bytes: usize, hint: impl Fn(*const u8)) {
    if length_bytes <= SMALL_BYTES { lines(first, length_bytes, hint) } else { both_ends(first, length_bytes, hint) }
}

/// Gives `hint` all lines of a small message that is written next; of a larger one the first.
#[inline(always)]
pub(crate) fn beginning(first: *const u8, length_bytes: usize, hint: impl Fn(*const u8)) {
    lines(first, if length_bytes <= SMALL_BYTES { length_bytes } else { 1 }, hint);
}

#[inline(always)]
fn lines(first: *const u8, length_bytes: usize, hint: impl Fn(*const u8)) {
    (0..length_bytes).step_by(crate::protocol::layout::LINE_BYTES).for_each(|offset| hint(first.wrapping_add(offset)));
}

/// Gives `hint` the first and the last line of a message: headers and stamps are at the beginning, checks at the end, and the
/// processor finds the lines between by itself. Never the same line twice, which costs 100 ns in a hop.
#[inline(always)]
pub(crate) fn both_ends(first: *const u8, length_bytes: usize, hint: impl Fn(*const u8)) {
    hint(first);
    if length_bytes > crate::protocol::layout::LINE_BYTES {
        hint(first.wrapping_add(length_bytes - 1));
    }
}
