//! A second open file description of a file, with `O_DIRECT`: the disk reads the data of a write from the caller's
//! memory, and the page cache is not involved.

use rustix::{
    fs::{AtFlags, OFlags, StatxFlags, statx},
    io::{Errno, pwritev, retry_on_intr},
    param::page_size,
};
use std::{
    fs::{File, OpenOptions},
    io::{self, IoSlice},
    os::{fd::AsRawFd, unix::fs::OpenOptionsExt},
};

/// A file whose writes begin and end at multiples of `alignment`, in memory and in the file.
#[derive(Debug)]
pub struct DirectFile {
    pub(super) file: File,
    pub(super) alignment: u64,
}

impl DirectFile {
    /// Opens the file again. Returns `None` if the file system has no direct writes, or if the kernel does not report
    /// their alignment (before Linux 6.1). Some file systems accept `O_DIRECT` but write through the page cache, such
    /// as tmpfs; they report no alignment.
    pub fn open(file: &File) -> Option<DirectFile> {
        let about = statx(file, c"", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).ok()?;
        let is_reported = StatxFlags::from_bits_retain(about.stx_mask).contains(StatxFlags::DIOALIGN);
        if !is_reported || about.stx_dio_offset_align == 0 {
            return None;
        }
        // A direct write never shares a page of the page cache with another write. Otherwise the kernel would have to
        // write that page to the disk first.
        let alignment = page_size().max(about.stx_dio_offset_align as usize).max(about.stx_dio_mem_align as usize);
        if !alignment.is_power_of_two() {
            return None; // the memory could not be aligned
        }
        let mut options = OpenOptions::new();
        options.write(true).custom_flags(OFlags::DIRECT.bits().cast_signed());
        // The path may name another file by now, so the file is opened through its descriptor.
        let file = options.open(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()?;
        Some(DirectFile { file, alignment: alignment as u64 })
    }

    /// Writes the parts at the offset, and advances `parts` by the number of written bytes, which it returns. Parts are
    /// left if the file system refuses direct writes, or at a limit of the file's size.
    ///
    /// # Errors
    /// Another error of the operating system.
    pub fn write(&self, parts: &mut &mut [IoSlice<'_>], offset: u64) -> io::Result<u64> {
        let mut written: u64 = 0;
        while !parts.is_empty() && written.is_multiple_of(self.alignment) {
            match retry_on_intr(|| pwritev(&self.file, parts, offset + written)) {
                Ok(0) | Err(Errno::INVAL) => break,
                Ok(count) => {
                    written += count as u64;
                    IoSlice::advance_slices(parts, count);
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(written)
    }
}
