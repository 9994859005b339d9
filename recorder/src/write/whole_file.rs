//! A file in which each append is either complete or has no effect.
//!
//! A large append may be *direct*: the disk reads its whole pages from the caller's memory, past the page cache. The
//! bytes before the first whole page are written through the page cache. A direct append ends at the end of a page. So
//! no page is written in both ways, and the length of the file is always exact.

use super::direct_file::DirectFile;
use rustix::{
    fs::{Advice, FallocateFlags, fadvise, fallocate},
    io::{Errno, pwritev, retry_on_intr},
    param::page_size,
};
use std::{
    fs::{File, OpenOptions},
    io::{self, IoSlice},
    num::NonZeroU64,
    os::unix::fs::{FileExt, MetadataExt},
    path::Path,
};

/// The disk space that is reserved at a time, in bytes.
const RESERVED_BYTES: u64 = 16 << 20;
/// The shortest direct append. For a shorter append, the pages of the cache cost less than the wait for the disk.
const MIN_DIRECT_BYTES: u64 = 256 << 10;
/// The longest copies for a direct append. They stay in memory until the file ends.
const MAX_COPIED_BYTES: u64 = 8 << 20;

/// An open file. After a failed append, the file is truncated to its length before the append. Disk space is reserved
/// in advance.
#[derive(Debug)]
pub struct WholeFile {
    file: File,
    /// `None` if the file system has no direct writes, or after a short direct write.
    direct: Option<DirectFile>,
    position: u64,
    /// The offset behind the last direct write. The bytes from here on were written through the page cache.
    cached_from: u64,
    /// The offset up to which disk space is reserved; `None` if the file system cannot reserve space.
    reserved: Option<u64>,
    /// Whether bytes of a failed append follow `position`, because the file could not be truncated.
    is_torn: bool,
}

impl WholeFile {
    /// # Errors
    /// The file exists, or cannot be made.
    pub fn create(path: &Path) -> io::Result<WholeFile> {
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
        let direct = DirectFile::open(&file);
        Ok(WholeFile { file, direct, position: 0, cached_from: 0, reserved: Some(0), is_torn: false })
    }

    /// The total length of the parts of an append.
    pub fn bytes_of(parts: &[IoSlice<'_>]) -> u64 {
        parts.iter().map(|part| part.len() as u64).sum()
    }

    /// The alignment of a direct append of this number of bytes. `padded_bytes` of them have padding, which aligns them
    /// to pages; the other bytes have to be copied. `None` if the file system has no direct writes, or a direct write
    /// would cost more.
    pub fn direct_alignment(&self, bytes: u64, padded_bytes: u64) -> Option<u64> {
        let alignment = self.direct.as_ref()?.alignment;
        let in_place_bytes = if alignment == page_size() as u64 { padded_bytes } else { 0 };
        let is_useful = bytes >= MIN_DIRECT_BYTES && bytes - in_place_bytes <= MAX_COPIED_BYTES;
        is_useful.then_some(alignment)
    }

    /// Appends the parts in their order, through the page cache.
    ///
    /// # Errors
    /// An error of the operating system. The file is then unchanged.
    pub fn append(&mut self, parts: &mut [IoSlice<'_>]) -> io::Result<()> {
        self.mend()?;
        let bytes = WholeFile::bytes_of(parts);
        let written = self.write_parts(parts, self.position);
        self.complete(written, bytes)
    }

    /// Appends the parts, which are arranged for a direct write (`DirectParts`).
    ///
    /// # Errors
    /// The same errors as [`WholeFile::append`].
    pub fn append_direct(&mut self, parts: &mut [IoSlice<'_>]) -> io::Result<()> {
        let Some(direct) = self.direct.take() else { return self.append(parts) };
        let bytes = WholeFile::bytes_of(parts);
        let written = self.mend().and_then(|()| self.write_direct(parts, &direct));
        if !matches!(written, Ok(false)) {
            self.direct = Some(direct);
        }
        self.complete(written.map(drop), bytes)
    }

    fn write_parts(&self, mut parts: &mut [IoSlice<'_>], mut offset: u64) -> io::Result<()> {
        while !parts.is_empty() {
            let count = retry_on_intr(|| pwritev(&self.file, parts, offset))?;
            if count == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            offset += count as u64;
            IoSlice::advance_slices(&mut parts, count);
        }
        Ok(())
    }

    /// Returns `false` if the file system refused the direct write, so that the bytes went through the page cache.
    fn write_direct(&mut self, mut parts: &mut [IoSlice<'_>], direct: &DirectFile) -> io::Result<bool> {
        let start = self.position.next_multiple_of(direct.alignment);
        let head_bytes = (start - self.position) as usize;
        if head_bytes > 0 {
            self.file.write_all_at(&parts[0][..head_bytes], self.position)?;
            IoSlice::advance_slices(&mut parts, head_bytes);
        }
        // Starts the writing of all pages before the direct write, without a wait. Otherwise they would wait for the
        // next sync, and a loss of power would leave a hole before later data.
        if let Some(cached) = NonZeroU64::new(start - self.cached_from) {
            let _ = fadvise(&self.file, self.cached_from, Some(cached), Advice::DontNeed);
        }
        let written = direct.write(&mut parts, start)?;
        if written > 0 {
            self.cached_from = start + written;
        }
        let is_direct = parts.is_empty();
        self.write_parts(parts, start + written)?;
        Ok(is_direct)
    }

    /// Truncates the file if bytes of a failed append are in it.
    fn mend(&mut self) -> io::Result<()> {
        if self.is_torn {
            self.file.set_len(self.position)?;
            self.is_torn = false;
        }
        Ok(())
    }

    /// Ends an append: advances the position or, after an error, truncates the file.
    fn complete(&mut self, written: io::Result<()>, bytes: u64) -> io::Result<()> {
        match written {
            Ok(()) => self.position += bytes,
            Err(_) => {
                // The next append truncates the file first if it cannot be truncated now. Otherwise the offsets of
                // later records would be wrong.
                self.is_torn = self.file.set_len(self.position).is_err();
                self.reserved = self.reserved.map(|_| self.position);
            }
        }
        written
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

#[cfg(test)]
mod tests {
    use super::{super::direct_parts::DirectParts, *};
    use std::fs;

    const PAGE: usize = 4096;

    fn bytes(length: usize) -> Vec<u8> {
        (0..length).map(|byte| (byte / 3 % 251) as u8).collect()
    }

    /// Appends two parts; directly if the file has a handle for direct writes and `is_direct`.
    fn append(file: &mut WholeFile, data: &[u8], is_direct: bool) -> io::Result<()> {
        let (start, end) = data.split_at(data.len() / 3);
        let mut parts = [IoSlice::new(start), IoSlice::new(end)];
        file.reserve(data.len() as u64)?;
        match file.direct.as_ref().filter(|_| is_direct).map(|direct| direct.alignment) {
            Some(alignment) => {
                let mut direct_parts = DirectParts::default();
                file.append_direct(&mut direct_parts.arrange([start, end].into_iter(), file.bytes(), alignment))
            }
            None => file.append(&mut parts),
        }
    }

    #[test]
    fn appends_of_any_length_leave_their_bytes() {
        // The second file system is in memory, and has no direct writes.
        for parent in [std::env::temp_dir(), "/dev/shm".into()] {
            let directory = tempfile::tempdir_in(parent).unwrap();
            let path = directory.path().join("file");
            let mut file = WholeFile::create(&path).unwrap();
            let mut expected = Vec::new();
            let large = 1 << 18;
            for length in [1, 2 * PAGE - 1, 3, PAGE - 3, large, large + 1, large - 1, 1, large + PAGE / 2, 9, 5 << 20] {
                for is_direct in [false, true, true] {
                    let end = (expected.len() + length).next_multiple_of(if is_direct { PAGE } else { 1 });
                    let data = bytes(end - expected.len());
                    append(&mut file, &data, is_direct).unwrap();
                    expected.extend(data);
                    assert!(fs::read(&path).unwrap() == expected, "after {length} bytes, direct: {is_direct}");
                }
            }
            let has_direct = file.direct.is_some();
            assert_eq!(has_direct, DirectFile::open(&file.file).is_some(), "no direct write was refused");
            assert_eq!(file.finish().unwrap().metadata().unwrap().len(), expected.len() as u64);
        }
    }

    #[test]
    fn a_direct_append_that_fails_leaves_the_file_unchanged() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let mut file = WholeFile::create(&path).unwrap();
        append(&mut file, &bytes(1000), false).unwrap();
        // The whole pages cannot be written, because this descriptor is only for reading.
        let direct = DirectFile { file: File::open(&path).unwrap(), alignment: PAGE as u64 };
        file.direct = Some(direct);
        assert!(append(&mut file, &bytes(10 * PAGE - 1000), true).is_err());
        assert_eq!((fs::read(&path).unwrap(), file.bytes()), (bytes(1000), 1000));
        append(&mut file, &bytes(7), false).unwrap();
        assert_eq!(fs::read(&path).unwrap(), [bytes(1000), bytes(7)].concat());
    }

    #[test]
    fn what_the_file_system_refuses_goes_through_the_page_cache() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let mut file = WholeFile::create(&path).unwrap();
        // A file system without direct writes gives no descriptor for them.
        if let Some(direct) = &mut file.direct {
            direct.alignment = 8; // less than any disk needs
        }
        append(&mut file, &bytes(1003), false).unwrap();
        append(&mut file, &bytes(10 * PAGE), true).unwrap();
        assert_eq!(fs::read(&path).unwrap(), [bytes(1003), bytes(10 * PAGE)].concat());
        assert!(file.direct.is_none());
    }
}
