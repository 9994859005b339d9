//! A file in which each append is either complete or has no effect.

use rustix::{
    fs::{FallocateFlags, fallocate},
    io::Errno,
};
use std::{
    fs::{File, OpenOptions},
    io::{self, IoSlice, Write},
    os::unix::fs::MetadataExt,
    path::Path,
};

/// The disk space that is reserved at a time, in bytes.
const RESERVED_BYTES: u64 = 16 << 20;

/// An open file. After a failed append, the file is truncated to its length before the append. Disk space is reserved
/// in advance.
#[derive(Debug)]
pub struct WholeFile {
    file: File,
    position: u64,
    /// The offset up to which disk space is reserved; `None` if the file system cannot reserve space.
    reserved: Option<u64>,
    /// Whether bytes of a failed append follow `position`, because the file could not be truncated.
    is_torn: bool,
}

impl WholeFile {
    /// # Errors
    /// The file exists, or cannot be made.
    pub fn create(path: &Path) -> io::Result<WholeFile> {
        let file = OpenOptions::new().read(true).append(true).create_new(true).open(path)?;
        Ok(WholeFile { file, position: 0, reserved: Some(0), is_torn: false })
    }

    /// The total length of the parts of an append.
    pub fn bytes_of(parts: &[IoSlice<'_>]) -> u64 {
        parts.iter().map(|part| part.len() as u64).sum()
    }

    /// Appends the parts in their order.
    ///
    /// # Errors
    /// An error of the operating system. The file is then unchanged.
    pub fn append(&mut self, mut parts: &mut [IoSlice<'_>]) -> io::Result<()> {
        let bytes = WholeFile::bytes_of(parts);
        if self.is_torn {
            self.file.set_len(self.position)?;
            self.is_torn = false;
        }
        while !parts.is_empty() {
            let written = match (&self.file).write_vectored(parts) {
                Ok(0) => Err(io::ErrorKind::WriteZero.into()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                result => result,
            };
            match written {
                Ok(count) => IoSlice::advance_slices(&mut parts, count),
                Err(error) => {
                    // If the file cannot be truncated, the next append truncates it first. Otherwise the offsets of
                    // later records would be wrong.
                    self.is_torn = self.file.set_len(self.position).is_err();
                    self.reserved = self.reserved.map(|_| self.position);
                    return Err(error);
                }
            }
        }
        self.position += bytes;
        Ok(())
    }

    /// Reserves disk space for `bytes` more bytes.
    ///
    /// # Errors
    /// The disk is full, or a limit such as a quota is reached.
    pub fn reserve(&mut self, bytes: u64) -> io::Result<()> {
        let Some(reserved) = self.reserved else { return Ok(()) };
        let needed = self.position + bytes;
        if needed <= reserved {
            return Ok(());
        }
        let allocate = |end: u64| {
            let (start, length) = (reserved.max(self.position), end - reserved.max(self.position));
            fallocate(&self.file, FallocateFlags::KEEP_SIZE, start, length).map(|()| Some(end))
        };
        self.reserved = match allocate(needed + RESERVED_BYTES).or_else(|_| allocate(needed)) {
            Ok(end) => end,
            Err(full @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) => return Err(full.into()),
            // The file system cannot reserve space. If the disk is full, the write itself will fail.
            Err(_) => None,
        };
        Ok(())
    }

    /// Frees the reserved space that is not used, and returns the file.
    ///
    /// # Errors
    /// An error of the operating system.
    pub fn finish(self) -> io::Result<File> {
        self.file.set_len(self.position)?;
        Ok(self.file)
    }

    /// The length of the file.
    pub fn bytes(&self) -> u64 {
        self.position
    }

    /// Whether the file still exists under its name.
    ///
    /// # Errors
    /// An error of the operating system.
    pub fn is_linked(&self) -> io::Result<bool> {
        Ok(self.file.metadata()?.nlink() > 0)
    }

    /// Another handle of the file.
    ///
    /// # Errors
    /// An error of the operating system.
    pub fn handle(&self) -> io::Result<File> {
        self.file.try_clone()
    }
}
