//! Prefetch hints: the processor fetches a cache line that will be needed soon. The hints never fault, for any address;
//! they do nothing on processors other than x86-64 and aarch64, and under loom and Miri.

use crate::protocol::layout::LINE_BYTES;

/// The largest message whose cache lines are all prefetched: a core cannot wait for many more lines at once.
const SMALL_BYTES: usize = 512;

/// Declares a hint, with its instruction on each architecture that has one.
macro_rules! hint {
    ($(#[$meta:meta])* $name:ident: $($architecture:literal $instruction:literal),*) => {
        $(#[$meta])*
        #[inline(always)]
        pub(crate) fn $name(place: *const u8) {
            $(#[cfg(all(target_arch = $architecture, not(any(miri, all(test, feature = "loom")))))]
            // SAFETY: the instruction is a hint. It changes no memory, register or flag, and does not fault; processors
            // without it execute a no-op.
            unsafe {
                std::arch::asm!($instruction, in(reg) place, options(nostack, preserves_flags, readonly));
            })*
            let _ = place;
        }
    };
}

hint! {
    /// Hints that the line will be read.
    for_reading: "x86_64" "prefetcht0 [{}]", "aarch64" "prfm pldl1keep, [{}]"
}
hint! {
    /// Hints that the line will be written.
    for_writing: "x86_64" "prefetchw [{}]", "aarch64" "prfm pstl1keep, [{}]"
}
hint! {
    /// Hints that another core needs the written line next: the line moves from this core's cache to the shared cache.
    demote: "x86_64" "cldemote [{}]"
}

/// Calls `hint` for the cache lines of a message that are needed first. These are all lines of a small message, because
/// a processor prefetches further lines by itself only after it has fetched some. Of a larger message, they are the
/// first and the last line.
#[inline(always)]
pub(crate) fn message(first: *const u8, length_bytes: usize, hint: impl Fn(*const u8)) {
    beginning(first, length_bytes, &hint);
    if length_bytes > SMALL_BYTES {
        hint(first.wrapping_add(length_bytes - 1));
    }
}

/// Calls `hint` for all cache lines of a small message that is written next; only for the first line of a larger
/// message.
#[inline(always)]
pub(crate) fn beginning(first: *const u8, length_bytes: usize, hint: impl Fn(*const u8)) {
    let end = if length_bytes <= SMALL_BYTES { length_bytes } else { 1 };
    (0..end).step_by(LINE_BYTES).for_each(|offset| hint(first.wrapping_add(offset)));
}

/// Calls `hint` for the first and the last cache line of a message: headers and stamps are at the beginning, checks at
/// the end, and the processor prefetches the lines between by itself. No line is hinted twice, because a second hint
/// costs 100 ns per message.
#[inline(always)]
pub(crate) fn both_ends(first: *const u8, length_bytes: usize, hint: impl Fn(*const u8)) {
    hint(first);
    if length_bytes > LINE_BYTES {
        hint(first.wrapping_add(length_bytes - 1));
    }
}
