//! A copy function for bytes of any length, which is fast for long ones.

/// The number of bytes that are copied at a time, which is less than the cache of a core. glibc copies a part of this
/// size with `rep movsb` if that is fast. For larger parts, it uses a loop that first fetches each cache line that it
/// overwrites, possibly from another core.
///
/// Copying 4 MiB into a slot and out of it takes 270 µs in one call, and 185 µs in parts (AMD EPYC, glibc 2.36).
const PART_BYTES: usize = 256 << 10;

/// Copies `from` to `to`. Both must have the same length.
#[inline(always)]
pub fn copy(to: &mut [u8], from: &[u8]) {
    if from.len() > PART_BYTES { copy_parts(to, from) } else { to.copy_from_slice(from) }
}

#[inline(never)]
fn copy_parts(to: &mut [u8], from: &[u8]) {
    let (to_parts, from_parts) = (to[..from.len()].chunks_mut(PART_BYTES), from.chunks(PART_BYTES));
    to_parts.zip(from_parts).for_each(|(to, from)| to.copy_from_slice(from));
}
