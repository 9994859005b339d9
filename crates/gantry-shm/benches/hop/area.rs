//! Plain memory that two processes share, as words: the contestants without a library are made of it.
//!
//! Invariants:
//! - The mapping is never removed and the file behind it never shrinks, so words live until the process ends.
//! - All access is atomic; a word is used with one width only (`words` or `halves`), which each user keeps by using one of them.

use crate::{Result, payload::WORD_BYTES};
use rustix::mm::{MapFlags, ProtFlags, mmap};
use std::{
    fs::OpenOptions,
    path::Path,
    sync::atomic::{AtomicU32, AtomicU64},
};

/// Words from one line to the next that no prefetcher pulls in with it: CPUs fetch lines in pairs.
pub const APART: usize = 128 / WORD_BYTES;

/// Maps the file at `path`, made with zeros if need be, as 64-bit words.
pub fn words(path: &Path, count: usize) -> Result<&'static [AtomicU64]> {
    let base = map(path, count * size_of::<AtomicU64>())?;
    // SAFETY: `count` aligned words (a mapping begins at a page) that are mapped for good; atomics may be shared with
    //   any process, and zero is a valid one.
    Ok(unsafe { std::slice::from_raw_parts(base.cast(), count) })
}

/// ... as 32-bit words, as futexes want them.
pub fn halves(path: &Path, count: usize) -> Result<&'static [AtomicU32]> {
    let base = map(path, count * size_of::<AtomicU32>())?;
    // SAFETY: as in `words`.
    Ok(unsafe { std::slice::from_raw_parts(base.cast(), count) })
}

fn map(path: &Path, bytes: usize) -> Result<*const u8> {
    let sentence = |why: std::io::Error| format!("cannot share {bytes} bytes through {}: {why}", path.display());
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(sentence)?;
    file.set_len(bytes as u64).map_err(sentence)?;
    let place = std::ptr::null_mut();
    // SAFETY: a new mapping where the kernel likes it; it replaces nothing.
    let base = unsafe { mmap(place, bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, &file, 0) };
    Ok(base.map_err(|why| sentence(why.into()))?.cast())
}
