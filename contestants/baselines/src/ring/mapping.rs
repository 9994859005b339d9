//! A mapping of an endpoint's file: words for atomic access, and slots of bytes.
//!
//! Invariants
//! - M1: a file is never shortened while a process maps it, and a mapping begins at a page. [`Mapping::new`] requires
//!   the length.
//! - M2: words and slots lie in ranges of the file that do not overlap; the [layout](super::layout) defines them.
#![allow(unsafe_code)]

use std::fs::File;
use std::sync::atomic::{AtomicU32, AtomicU64};

use memmap2::{MmapOptions, MmapRaw};

/// A mapped file.
pub struct Mapping(MmapRaw);

impl Mapping {
    /// Maps `bytes` of a file.
    ///
    /// # Errors
    /// The reason, as a sentence: the file is shorter, or the kernel does not map it.
    pub fn new(file: &File, bytes: usize) -> Result<Mapping, String> {
        let length = file.metadata().map(|metadata| metadata.len());
        match length.and_then(|length| Ok((length, MmapOptions::new().len(bytes).map_raw(file)?))) {
            Ok((length, mapped)) if length >= bytes as u64 => Ok(Mapping(mapped)),
            Ok((length, _)) => Err(format!(
                "a shared file has {length} bytes instead of {bytes}: start only programs of one version of perf_test"
            )),
            Err(error) => Err(format!("cannot map {bytes} bytes of shared memory: {error}")),
        }
    }

    /// The address of `size` bytes at `offset`. Panics if they do not lie in the mapping.
    fn at(&self, offset: usize, size: usize) -> *mut u8 {
        let end = offset.checked_add(size);
        assert!(end.is_some_and(|end| end <= self.0.len()), "offset {offset} is beyond the mapping");
        self.0.as_mut_ptr().wrapping_add(offset)
    }

    /// The 4-byte word at an offset that is a multiple of 4.
    pub fn word(&self, offset: usize) -> &AtomicU32 {
        assert!(offset.is_multiple_of(4), "offset {offset} of a word");
        // SAFETY: `at` checked the bounds, and the address is aligned by M1 and the assertion. All processes use this
        // word as an atomic (M2). The mapping lives as long as `self`.
        unsafe { AtomicU32::from_ptr(self.at(offset, 4).cast()) }
    }

    /// The 8-byte word at an offset that is a multiple of 8.
    pub fn long_word(&self, offset: usize) -> &AtomicU64 {
        assert!(offset.is_multiple_of(8), "offset {offset} of a long word");
        // SAFETY: as in `word`.
        unsafe { AtomicU64::from_ptr(self.at(offset, 8).cast()) }
    }

    /// The bytes of a slot.
    ///
    /// # Safety
    /// No process writes these bytes while the slice lives.
    pub unsafe fn bytes(&self, offset: usize, length: usize) -> &[u8] {
        let start = self.at(offset, length);
        // SAFETY: `at` checked the bounds, every value is a valid byte, and the caller promises that no process writes.
        unsafe { std::slice::from_raw_parts(start, length) }
    }

    /// The bytes of a slot, writable.
    ///
    /// # Safety
    /// No other reference to these bytes exists in any process while the slice lives.
    #[expect(clippy::mut_from_ref, reason = "exclusive by the caller's promise, not by a borrow of the mapping")]
    pub unsafe fn bytes_mut(&self, offset: usize, length: usize) -> &mut [u8] {
        let start = self.at(offset, length);
        // SAFETY: `at` checked the bounds, every value is a valid byte, and the caller promises exclusiveness.
        unsafe { std::slice::from_raw_parts_mut(start, length) }
    }
}
