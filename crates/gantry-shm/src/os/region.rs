//! A region: one file, mapped with room to grow in place. If the limits of this process do not allow the address space
//! or locked memory for that room, the mapping is shorter. When the file has outgrown a mapping, the mapping is
//! lengthened; if the addresses after it are in use, the file is mapped again.
//!
//! This module is on the control path, except [`Region::at`] and [`Region::pointer`], which only compute
//! addresses. Invariants:
//! - R1: `base` is the address of a mapping of `mapped_bytes` bytes, at least `length_bytes`. A mapping stays until
//!   drop, even after `base` changed: pointers into the region stay valid. The file never shrinks (Gantry never
//!   truncates, and other programs of this user are trusted not to: docs/internals/failure-model.md).
//! - R2: bytes below `length` are backed by allocated pages (`fallocate`), so that a full file system is an error here
//!   and never a SIGBUS later.
//! - R3: only the owner's mapping is writable, and it does not reach a forked child (MADV_DONTFORK).

use crate::{
    crash::{self, Point},
    error::{Error, Result},
    os::{directory::Directory, file::SharedFile, mapping::Mapping, page_probe, pages},
    protocol::{
        layout::{FORMAT_VERSION, FileHeader, LAYOUT_HASH, PAGE_BYTES},
        ring::{Descriptor, Ring},
        shared::{InRegion, Shared},
        sync::{AtomicU64, acquire},
    },
};
use rustix::{
    fs::Stat,
    io::Errno,
    mm::{Advice, madvise},
};
use std::{
    ptr::NonNull,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicPtr, AtomicUsize, Ordering::*},
    },
};

/// The largest region: the entries of a ring locate slots by 31 bits, in units of 64 bytes.
const MAX_RESERVE_BYTES: usize = 64 << 31;

/// A mapped file.
pub(crate) struct Region {
    /// The address of the newest mapping. It is written by [`Region::cover`], before it stores `mapped_bytes`.
    base: AtomicPtr<u8>,
    /// The length of the newest mapping. It is stored with Release; partner: the Acquire load in [`Region::cover`].
    mapped_bytes: AtomicUsize,
    /// The known length of the file, which is mapped up to this length. W: `grow` of the owner, `refresh_length`
    /// of a reader. Stored with Release after the bytes exist and `base` covers them. Partner: the Acquire load
    /// in [`Region::length_bytes`].
    length_bytes: AtomicUsize,
    reserve_bytes: usize,
    /// The mappings, the newest last. There are several only if a mapping was shorter than the reserve, and could not
    /// be lengthened in place.
    mappings: Mutex<Vec<Mapping>>,
    /// `None` once the file was closed.
    file: Option<SharedFile>,
    /// The inode of the file, by which a caller notices that the name now belongs to another file.
    inode: u64,
    name: String,
    writable: bool,
    /// For a reader: the end of the pages that were entered into this process's page table.
    prefaulted_bytes: AtomicUsize,
}

impl Region {
    /// Makes an unnamed file of the kind `magic` with `length_bytes` in `directory`, and maps it writable. The file may
    /// grow to `reserve_bytes`. `what` is the purpose of the file, for an error.
    pub(crate) fn create(
        directory: &Directory,
        name: &str,
        (magic, what): (u64, &str),
        length_bytes: usize,
        reserve_bytes: usize,
    ) -> Result<Region> {
        let file = SharedFile::create(directory)?;
        crash::point(Point::FileMade);
        file.allocate(directory, what, 0..length_bytes)?;
        crash::point(Point::FileGrown);
        let stat = file.stat(name)?;
        let reserve_bytes = reserve_bytes.min(MAX_RESERVE_BYTES).max(length_bytes).next_multiple_of(PAGE_BYTES);
        let region = Region::new(file, name, &stat, reserve_bytes, true)?;
        let header = region.pointer(0, size_of::<FileHeader>(), align_of::<FileHeader>())?.cast::<FileHeader>();
        // SAFETY: inside the mapping and aligned (`pointer`); the file has no name yet, so no other process sees it.
        let header = unsafe { &mut *header.as_ptr() };
        (header.magic, header.version, header.layout_hash) = (magic, FORMAT_VERSION, LAYOUT_HASH);
        header.reserve_bytes = reserve_bytes as u64;
        header.length_bytes.store(length_bytes as u64, Relaxed); // publish_name() publishes it
        Ok(region)
    }

    /// Maps a file of `directory`, of the kind `magic`; the mapping is writable only for the board.
    pub(crate) fn open(directory: &Directory, name: &str, magic: u64, writable: bool) -> Result<Region> {
        let file = SharedFile::open(directory, name, writable)?;
        let stat = file.stat(name)?;
        let reserve_bytes = file.check_header(name, magic)?;
        let allowed = stat.st_size as u64..=MAX_RESERVE_BYTES as u64;
        if !allowed.contains(&reserve_bytes) || !reserve_bytes.is_multiple_of(PAGE_BYTES as u64) {
            let expected =
                format!("whole pages, from the file's length of {} to {MAX_RESERVE_BYTES} bytes", stat.st_size);
            return Err(Error::corrupt(name, "the reserved address space", expected, reserve_bytes));
        }
        Region::new(file, name, &stat, reserve_bytes as usize, writable)
    }

    /// Maps the file, which is no longer than `reserve_bytes`.
    fn new(file: SharedFile, name: &str, stat: &Stat, reserve_bytes: usize, writable: bool) -> Result<Region> {
        let length_bytes = stat.st_size as usize;
        let mapping = Mapping::new(&file, name, (length_bytes, reserve_bytes), writable)?;
        Ok(Region {
            base: AtomicPtr::new(mapping.base.cast()),
            mapped_bytes: AtomicUsize::new(mapping.bytes),
            length_bytes: AtomicUsize::new(length_bytes),
            reserve_bytes,
            mappings: Mutex::new(vec![mapping]),
            file: Some(file),
            inode: stat.st_ino,
            name: name.to_owned(),
            writable,
            prefaulted_bytes: AtomicUsize::new(0),
        })
    }

    /// Maps the rest of the file if it outgrew its mapping.
    fn cover(&self, length_bytes: usize) -> Result<()> {
        if length_bytes <= self.mapped_bytes.load(Acquire) {
            return Ok(());
        }
        let mut mappings = self.mappings.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have extended the mapping meanwhile.
        if let Some(newest) = mappings.last_mut().filter(|newest| newest.bytes < length_bytes) {
            let another = newest.lengthen(&self.name, (length_bytes, self.reserve_bytes))?;
            let newest = another.as_ref().unwrap_or(newest);
            self.base.store(newest.base.cast(), Relaxed); // the store of `mapped_bytes` publishes it
            self.mapped_bytes.store(newest.bytes, Release);
            self.prefaulted_bytes.store(0, Relaxed); // in a new mapping, all pages are yet to be entered
            mappings.extend(another);
        }
        Ok(())
    }

    /// Gives an unnamed file its name; from now on other processes see it.
    pub(crate) fn publish_name(&self, directory: &Directory, name: &str) -> std::result::Result<(), Errno> {
        directory.link_file(self.file.as_ref().ok_or(Errno::BADF)?, name)
    }

    /// Whether the file still has its name in `directory`.
    pub(crate) fn has_name_in(&self, directory: &Directory) -> bool {
        directory.has(&self.name, self.inode)
    }

    /// Closes the file, which has its name already, because descriptors are few. When the region grows, the file is
    /// opened for a moment.
    pub(crate) fn close_file(&mut self) {
        self.file = None;
    }

    /// The descriptor for locks and probes; returns an error if the file was closed.
    pub(crate) fn file(&self) -> Result<&SharedFile> {
        self.file.as_ref().ok_or_else(|| Error::system(format!("use {}", self.name), Errno::BADF))
    }

    /// Calls `run` with the file, which is opened for it if it was closed. `what` is the purpose, for the error of a
    /// removed file.
    fn with_file(&self, directory: &Directory, what: &str, run: impl FnOnce(&SharedFile) -> Result<()>) -> Result<()> {
        if let Some(file) = &self.file {
            return run(file);
        }
        let removed = || Error::Removed { file: directory.path().join(&self.name), what: what.to_owned() };
        let file = match SharedFile::open(directory, &self.name, self.writable) {
            Err(e) if e.is_not_found() => return Err(removed()),
            file => file?,
        };
        if file.stat(&self.name)?.st_ino != self.inode {
            return Err(removed());
        }
        run(&file)
    }

    /// The known length of the file in bytes.
    #[inline]
    pub(crate) fn length_bytes(&self) -> usize {
        self.length_bytes.load(Acquire)
    }

    /// The greatest length in bytes that the file can ever have.
    pub(crate) fn reserve_bytes(&self) -> usize {
        self.reserve_bytes
    }

    /// For the owner: makes the file at least `length_bytes` long, with pages behind every byte. `what` is the
    /// purpose of the pages, for an error.
    pub(crate) fn grow(&self, directory: &Directory, what: &str, length_bytes: usize) -> Result<()> {
        let old = self.length_bytes();
        if length_bytes > old {
            self.with_file(directory, what, |file| file.allocate(directory, what, old..length_bytes))?;
            crash::point(Point::FileGrown);
            self.cover(length_bytes)?;
            self.length_bytes.store(length_bytes, Release);
            self.populate(old, length_bytes); // before readers see the new length and populate the pages
            // Release: a reader that sees an offset into the new pages and then loads this length sees a length that
            // covers the offset.
            self.at::<FileHeader>(0)?.length_bytes.store(length_bytes as u64, Release);
        }
        Ok(())
    }

    /// For a reader: loads the file's length again. Makes one system call if the file has grown, more if the file
    /// has outgrown its mapping.
    pub(crate) fn refresh_length(&self) -> Result<usize> {
        let known = self.length_bytes();
        let claimed = acquire(&self.at::<FileHeader>(0)?.length_bytes) as usize;
        if claimed <= known {
            return Ok(known);
        }
        let no_length = || Error::corrupt(&self.name, "the header", "the file's length", claimed);
        if claimed > self.reserve_bytes || !claimed.is_multiple_of(PAGE_BYTES) {
            return Err(no_length());
        }
        self.cover(claimed)?;
        // SAFETY: inside the mapping (R1), which covers `claimed` bytes, a page at least; nothing is read there yet.
        let last_word = unsafe { self.address(claimed - size_of::<u64>()) };
        if !page_probe::is_readable(last_word) {
            return Err(no_length());
        }
        // Other threads may refresh at the same time. The length never falls, so this store must not lower it.
        Ok(self.length_bytes.fetch_max(claimed, AcqRel).max(claimed))
    }

    /// The address of the byte at `offset`.
    ///
    /// # Safety
    /// The offset is at most a length that `length_bytes` or `cover` of this thread has returned.
    #[inline]
    unsafe fn address(&self, offset: usize) -> NonNull<u8> {
        // SAFETY: the base of a mapping is not null.
        let base = unsafe { NonNull::new_unchecked(self.base.load(Relaxed)) };
        // SAFETY: inside the mapping (R1), as the caller promises: before that length was stored, a base that covers it
        // was stored.
        unsafe { base.add(offset) }
    }

    /// For readers: enters the pages by which the file grew since the last call into this process's page table, so that
    /// the data path does not fault. Best effort: a page that is not entered here is mapped by its first read. Holes,
    /// which a damaged file may have, stay holes: the file may be longer than the memory of the machine.
    pub(crate) fn prefault_new(&self, directory: &Directory) {
        // An error of the length is ignored here; a take returns it.
        let end = self.refresh_length().unwrap_or(0);
        let mut start = self.prefaulted_bytes.fetch_max(end, Relaxed);
        if start >= end {
            return;
        }
        // An error means that the file has no name any more: its publisher is gone.
        let _ = self.with_file(directory, "pages to read", |file| {
            // Pages that were allocated but never written also count as a hole. Therefore the owner calls `populate`.
            while let Some(data) = file.next_data(start).filter(|data| data.start < end) {
                self.populate(data.start, data.end.min(end));
                start = data.end;
            }
            Ok(())
        });
    }

    /// For the owner: populates all pages, so that its data path does not fault and readers find the pages
    /// ([`Region::prefault_new`]).
    pub(crate) fn populate_all(&self) {
        self.populate(0, self.length_bytes());
    }

    /// Populates the allocated pages from `start` to `end`, which is at most the file's length. Best effort: with
    /// kernels before 5.14, each page is touched instead.
    fn populate(&self, start: usize, end: usize) {
        if start < end && self.advise(start, end, pages::page_bytes()) == Err(Errno::INVAL) {
            // The kernel does not know this advice.
            self.touch(start, end, pages::page_bytes());
        }
    }

    /// Asks the kernel to populate the pages of `page_bytes` in which this range lies. The range is not empty.
    fn advise(&self, start: usize, end: usize, page_bytes: usize) -> std::result::Result<(), Errno> {
        let advice = if self.writable { Advice::LinuxPopulateWrite } else { Advice::LinuxPopulateRead };
        let pages = pages::whole_pages(start..end, page_bytes);
        // SAFETY: `pages.start < length`.
        let first = unsafe { self.address(pages.start) };
        // SAFETY: the range is inside the mapping (R1), which the kernel made of whole pages; populating changes no
        // contents.
        unsafe { madvise(first.as_ptr().cast(), pages.len(), advice) }
    }

    /// [`Region::populate`] for kernels before 5.14, with pages of `page_bytes`. No byte before `start` is touched.
    fn touch(&self, start: usize, end: usize, page_bytes: usize) {
        for offset in pages::first_bytes(start..end, page_bytes) {
            // SAFETY: `offset < length`.
            let byte = unsafe { self.address(offset) };
            // SAFETY: the byte is inside the mapping (R1), and its page was there a moment ago (R2). Volatile, so that
            // the compiler keeps the load.
            unsafe { byte.read_volatile() };
        }
    }

    /// Returns the `T` at `offset`, or the error `Corrupt` if the region ends before the end of the `T`.
    #[inline]
    pub(crate) fn at<T: Shared>(&self, offset: usize) -> Result<&T> {
        let pointer = self.pointer(offset, size_of::<T>(), align_of::<T>())?;
        // SAFETY: in bounds and aligned (checked in `pointer`), any bytes are a `T` (S1), and fields that change while
        // others read are atomics (`Shared`); the mapping lives as long as `self` (R1).
        Ok(unsafe { pointer.cast::<T>().as_ref() })
    }

    /// The ring at `descriptor`, with entries of `entry_bytes`, or the error `Corrupt` if the region ends before the
    /// end of the ring. The holder of the ring keeps the region.
    pub(crate) fn ring(&self, descriptor: Descriptor, entry_bytes: usize) -> Result<Ring> {
        let entries = 1usize.checked_shl(descriptor.log2_capacity).unwrap_or(usize::MAX);
        let words = self.slice::<AtomicU64>(descriptor.offset, entries.saturating_mul(entry_bytes / 8))?;
        // SAFETY: the caller keeps the region.
        Ok(Ring::new(unsafe { InRegion::new(words) }, entry_bytes))
    }

    /// Returns `count` values of `T` at `offset`, or the error `Corrupt` if the region ends before their end.
    pub(crate) fn slice<T: Shared>(&self, offset: usize, count: usize) -> Result<&[T]> {
        let first = self.pointer(offset, size_of::<T>().saturating_mul(count), align_of::<T>())?.cast();
        // SAFETY: as in `at`, for each element.
        Ok(unsafe { NonNull::slice_from_raw_parts(first, count).as_ref() })
    }

    /// The address of the first byte of the newest mapping.
    #[inline]
    pub(crate) fn base(&self) -> *const u8 {
        self.base.load(Relaxed)
    }

    /// The address of `length_bytes` bytes at `offset`, inside the known length, aligned to `align`.
    #[inline]
    pub(crate) fn pointer(&self, offset: usize, length_bytes: usize, align: usize) -> Result<NonNull<u8>> {
        let end = offset.checked_add(length_bytes);
        if end.is_none_or(|end| end > self.length_bytes()) || !offset.is_multiple_of(align) {
            return Err(self.outside(offset, length_bytes, align));
        }
        // SAFETY: `offset + length_bytes <= length`.
        Ok(unsafe { self.address(offset) })
    }

    #[cold]
    fn outside(&self, offset: usize, length_bytes: usize, align: usize) -> Error {
        Error::corrupt(
            &self.name,
            format!("offset {offset}"),
            format!("{length_bytes} bytes, aligned to {align}"),
            format!("a region of {} bytes", self.length_bytes()),
        )
    }

    /// The file's name, for error messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::layout::PUBLISHER_MAGIC;

    #[test]
    fn a_region_grows_in_place_for_owner_and_reader() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let directory = Directory::make_for_user(root.path()).unwrap();
        let kind = (PUBLISHER_MAGIC, "a test");
        let mut owner = Region::create(&directory, "test", kind, PAGE_BYTES, 1 << 30).unwrap();
        owner.publish_name(&directory, "test").unwrap();
        owner.close_file();
        let mut reader = Region::open(&directory, "test", PUBLISHER_MAGIC, false).unwrap();
        reader.close_file();
        assert!(reader.at::<AtomicU64>(PAGE_BYTES).is_err(), "beyond the end");
        owner.grow(&directory, "a test", 64 * PAGE_BYTES).unwrap();
        owner.at::<AtomicU64>(63 * PAGE_BYTES).unwrap().store(42, Relaxed);
        assert_eq!(reader.refresh_length().unwrap(), 64 * PAGE_BYTES);
        // Both ways of prefaulting are tested: the kernel's call, and the loop for old kernels.
        reader.prefault_new(&directory);
        reader.touch(0, 64 * PAGE_BYTES, pages::page_bytes());
        assert_eq!(reader.at::<AtomicU64>(63 * PAGE_BYTES).unwrap().load(Relaxed), 42);
        assert!(reader.at::<AtomicU64>(3).is_err(), "not aligned");
        // Some kernels have larger pages: there the file grew in the middle of a page.
        let advised = |region: &Region, page_bytes| region.advise(5 * PAGE_BYTES, 18 * PAGE_BYTES, page_bytes);
        for page_bytes in [pages::page_bytes(), 16 << 10, 64 << 10] {
            assert_eq!(
                advised(&owner, page_bytes),
                advised(&owner, pages::page_bytes()),
                "pages of {page_bytes} bytes"
            );
            assert_eq!(advised(&reader, page_bytes), advised(&reader, pages::page_bytes()));
            reader.touch(5 * PAGE_BYTES, 18 * PAGE_BYTES, page_bytes);
        }
    }
}
