//! Plain words of memory that two processes share. The contestants without a library use them.
//!
//! Invariants:
//! - The mapping is never removed and the file behind it never shrinks, so the words stay valid until the process ends.
//! - All access is atomic; a word is used with one width only. Each user of a file keeps this invariant by calling only
//!   `words` or only `halves`.

use crate::{Result, payload::WORD_BYTES};
use rustix::mm::{MapFlags, ProtFlags, mmap};
use std::{
    fs::OpenOptions,
    path::Path,
    sync::atomic::{AtomicU32, AtomicU64},
};

/// The distance in words between data that must not share a prefetch: CPUs fetch cache lines in pairs, 128 bytes.
pub const APART: usize = 128 / WORD_BYTES;

/// Maps the file at `path` as 64-bit words; creates it with zeros if it does not exist.
pub fn words(path: &Path, count: usize) -> Result<&'static [AtomicU64]> {
    let base = map(path, count * size_of::<AtomicU64>())?;
    // SAFETY: the mapping has `count` aligned words (it begins at a page) and is never removed. Atomics may be shared
    // with any process, and zero is a valid value.
    Ok(unsafe { std::slice::from_raw_parts(base.cast(), count) })
}

/// Maps a file like [`words`], but as 32-bit words, which futexes need.
pub fn halves(path: &Path, count: usize) -> Result<&'static [AtomicU32]> {
    let base = map(path, count * size_of::<AtomicU32>())?;
    // SAFETY: as in `words`, with 32-bit words.
    Ok(unsafe { std::slice::from_raw_parts(base.cast(), count) })
}

fn map(path: &Path, bytes: usize) -> Result<*const u8> {
    let sentence = |why: std::io::Error| format!("cannot share {bytes} bytes through {}: {why}", path.display());
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(sentence)?;
    file.set_len(bytes as u64).map_err(sentence)?;
    let any_address = std::ptr::null_mut();
    // SAFETY: a new mapping at an address of the kernel's choice replaces nothing.
    let base = unsafe { mmap(any_address, bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, &file, 0) };
    Ok(base.map_err(|why| sentence(why.into()))?.cast())
}
