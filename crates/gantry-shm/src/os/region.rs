//! A region: one file mapped once, with room to grow in place.
//!
//! Control path, but for [`Region::at`] and [`Region::pointer`], which are arithmetic. Invariants:
//! - R1: `base` is a mapping of `reserve_bytes` bytes, until drop; the file never shrinks (Gantry never truncates, and within
//!   one user no other program does: docs/internals/failure-model.md).
//! - R2: bytes below `length` are backed by allocated pages (`fallocate`), so that a full file system is an error here
//!   and never a SIGBUS later; the exception are pages that the owner punched, which are free memory that no entry names.
//! - R3: only the owner's mapping is writable, and it does not reach a forked child (MADV_DONTFORK).

use crate::{
    crash::{self, Point},
    error::{Error, Result},
    os::{
        directory::Directory,
        file::SharedFile,
        fork::{self, Epoch},
        page_probe,
    },
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
    mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap},
};
use std::{
    ops::Range,
    ptr::NonNull,
    sync::atomic::{AtomicUsize, Ordering::*},
};

/// The largest region: entries of a ring name slots by 31 bits of 64-byte units.
pub(crate) const MAX_RESERVE_BYTES: usize = 64 << 31;

/// A mapped file.
pub(crate) struct Region {
    base: NonNull<u8>,
    reserve_bytes: usize,
    /// Known length of the file. W: `grow` of the owner, `refresh_length` of a reader. Relaxed: a larger value is never needed
    /// for safety, and the bytes it covers exist since before it was stored.
    length_bytes: AtomicUsize,
    /// `None` once it was closed.
    file: Option<SharedFile>,
    /// Of the file, to notice that another file has its name.
    inode: u64,
    name: String,
    writable: bool,
    epoch: Epoch,
}

// SAFETY: the mapping belongs to no thread; all access goes through atomics or through bytes whose exclusive or shared
// use the protocol hands over (lib.rs, I4 and I5).
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

impl Region {
    /// Makes an unnamed file of `length_bytes` in `directory`, writable here, of the kind `magic`. It may grow to
    /// `reserve_bytes`, or less if there is not so much address space. `what` is its purpose, for an error.
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
        let mut reserve_bytes = reserve_bytes.max(length_bytes).next_multiple_of(PAGE_BYTES);
        let region = loop {
            match map(&file, name, reserve_bytes, true) {
                Ok(base) => break Region::new(base, reserve_bytes, file, name, &stat, true)?,
                // Little address space, or `mlockall` beside a small RLIMIT_MEMLOCK.
                Err(Error::System { .. }) if reserve_bytes / 2 >= length_bytes.max(PAGE_BYTES) => {
                    reserve_bytes = (reserve_bytes / 2).next_multiple_of(PAGE_BYTES);
                }
                Err(error) => return Err(error),
            }
        };
        let header = region.pointer(0, size_of::<FileHeader>(), align_of::<FileHeader>())?.cast::<FileHeader>();
        // SAFETY: inside the mapping and aligned (`pointer`); the file has no name yet, so no other process sees it.
        let header = unsafe { &mut *header.as_ptr() };
        (header.magic, header.version, header.layout_hash) = (magic, FORMAT_VERSION, LAYOUT_HASH);
        header.reserve_bytes = region.reserve_bytes as u64;
        header.length_bytes.store(length_bytes as u64, Relaxed); // publish_name() publishes it
        region.populate(0, length_bytes);
        Ok(region)
    }

    /// Maps a file of `directory`, of the kind `magic`; writable only for the board.
    pub(crate) fn open(directory: &Directory, name: &str, magic: u64, writable: bool) -> Result<Region> {
        let file = SharedFile::open(directory, name, writable)?;
        let stat = file.stat(name)?;
        let reserve_bytes = file.check_header(name, magic)?;
        if reserve_bytes > MAX_RESERVE_BYTES as u64
            || !reserve_bytes.is_multiple_of(PAGE_BYTES as u64)
            || reserve_bytes == 0
        {
            let expected = format!("pages, at most {MAX_RESERVE_BYTES} bytes");
            return Err(Error::corrupt(name, "its reserve", expected, reserve_bytes));
        }
        if stat.st_size as u64 > reserve_bytes {
            let expected = format!("at most its reserve of {reserve_bytes} bytes");
            return Err(Error::corrupt(name, "its length", expected, stat.st_size));
        }
        let base = map(&file, name, reserve_bytes as usize, writable)?;
        Region::new(base, reserve_bytes as usize, file, name, &stat, writable)
    }

    /// `base` is a mapping of `reserve_bytes` of `file`, which is ours to unmap and no longer than that.
    fn new(
        base: NonNull<u8>,
        reserve_bytes: usize,
        file: SharedFile,
        name: &str,
        stat: &Stat,
        writable: bool,
    ) -> Result<Region> {
        let (length_bytes, inode) = (AtomicUsize::new(stat.st_size as usize), stat.st_ino);
        let (name, epoch) = (name.to_owned(), Epoch::current()?);
        Ok(Region { base, reserve_bytes, length_bytes, file: Some(file), inode, name, writable, epoch })
    }

    /// Gives an unnamed file its name; from now on other processes see it.
    pub(crate) fn publish_name(&self, directory: &Directory, name: &str) -> std::result::Result<(), Errno> {
        directory.link_file(self.file.as_ref().ok_or(Errno::BADF)?, name)
    }

    /// Whether the file still has its name in `directory`.
    pub(crate) fn has_name_in(&self, directory: &Directory) -> bool {
        directory.has(&self.name, self.inode)
    }

    /// Closes the file, which has its name; growing opens it for a moment. Descriptors are few.
    pub(crate) fn close_file(&mut self) {
        self.file = None;
    }

    /// The descriptor that locks and probes work on; an error if it was closed.
    pub(crate) fn file(&self) -> Result<&SharedFile> {
        self.file.as_ref().ok_or_else(|| Error::system(format!("use {}", self.name), Errno::BADF))
    }

    /// Calls `run` with the file, which is opened for it if it was closed. `what` is the purpose, for the error of a removed file.
    fn with_file<T>(&self, directory: &Directory, what: &str, run: impl FnOnce(&SharedFile) -> Result<T>) -> Result<T> {
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

    /// How many bytes are known to be there.
    #[inline]
    pub(crate) fn length_bytes(&self) -> usize {
        self.length_bytes.load(Relaxed)
    }

    /// How many bytes there can ever be.
    pub(crate) fn reserve_bytes(&self) -> usize {
        self.reserve_bytes
    }

    /// Owner: makes the file at least `length_bytes` long, with pages behind every byte.
    /// `what` is their purpose, for an error.
    pub(crate) fn grow(&self, directory: &Directory, what: &str, length_bytes: usize) -> Result<()> {
        let old = self.length_bytes();
        if length_bytes > old {
            self.with_file(directory, what, |file| file.allocate(directory, what, old..length_bytes))?;
            crash::point(Point::FileGrown);
            self.length_bytes.store(length_bytes, Relaxed);
            self.populate(old, length_bytes); // before readers see the new length and populate it
            // Release: a reader that sees an offset into the new pages and then this, sees a length that covers it.
            self.at::<FileHeader>(0)?.length_bytes.store(length_bytes as u64, Release);
        }
        Ok(())
    }

    /// Owner: allocates the pages of `range` again, after [`Region::punch`].
    pub(crate) fn fill(&self, directory: &Directory, what: &str, range: Range<usize>) -> Result<()> {
        self.with_file(directory, what, |file| file.allocate(directory, what, range))
    }

    /// Owner: punches `range`, whole pages that no slot in use covers.
    pub(crate) fn punch(&self, directory: &Directory, range: Range<usize>) -> Result<()> {
        let what = format!("punch {} bytes of {}", range.len(), self.name);
        self.with_file(directory, &what, |file| file.punch(range).map_err(|e| Error::system(&*what, e)))
    }

    /// Reader: loads the file's length again. One system call if it has grown.
    pub(crate) fn refresh_length(&self) -> Result<usize> {
        let known = self.length_bytes();
        let claimed = acquire(&self.at::<FileHeader>(0)?.length_bytes) as usize;
        if claimed <= known {
            return Ok(known);
        }
        if claimed > self.reserve_bytes || !claimed.is_multiple_of(PAGE_BYTES) || !self.ends_behind(claimed) {
            return Err(Error::corrupt(&self.name, "its header", "the file's length", claimed));
        }
        // Other threads may refresh at the same time; the length never falls, so neither may this.
        Ok(self.length_bytes.fetch_max(claimed, Relaxed).max(claimed))
    }

    /// Whether the file has `length_bytes` bytes, which are within the reserve.
    fn ends_behind(&self, length_bytes: usize) -> bool {
        // SAFETY: inside the mapping (R1), for `8 <= length_bytes <= reserve`; nothing is read there yet.
        page_probe::is_readable(unsafe { self.base.add(length_bytes - size_of::<u64>()) })
    }

    /// Reader: enters the pages of `range` that the owner populated into this process's page table, so that the data path does
    /// not fault; holes that the owner punched stay holes.
    pub(crate) fn prefault(&self, directory: &Directory, range: Range<usize>) -> Result<()> {
        self.with_file(directory, "pages to read", |file| {
            let Range { mut start, end } = range;
            // Pages that were allocated and never written count as a hole, too: hence `populate` by the owner.
            while let Some(data) = file.next_data(start).filter(|data| data.start < end) {
                self.populate(data.start, data.end.min(end));
                start = data.end;
            }
            Ok(())
        })
    }

    /// Populates pages that were just allocated (or are known to be there). Best effort: with kernels before 5.14, each page is
    /// touched instead.
    pub(crate) fn populate(&self, start: usize, end: usize) {
        let (start, end) = (start & !(PAGE_BYTES - 1), end.min(self.reserve_bytes));
        if end <= start {
            return;
        }
        let advice = if self.writable { Advice::LinuxPopulateWrite } else { Advice::LinuxPopulateRead };
        // SAFETY: `start < length <= reserve`, so the address is inside the mapping (R1).
        let first = unsafe { self.base.add(start) };
        // SAFETY: the range is inside the mapping (R1); populating changes no contents.
        let populated = unsafe { madvise(first.as_ptr().cast(), end - start, advice) };
        if populated == Err(Errno::INVAL) {
            self.touch(start, end); // a kernel without this advice
        }
    }

    /// [`Region::populate`] for kernels before 5.14.
    fn touch(&self, start: usize, end: usize) {
        for page in (start..end).step_by(PAGE_BYTES) {
            // SAFETY: the byte is inside the mapping (R1), and its page was there a moment ago (R2).
            let byte = unsafe { self.base.add(page) };
            // SAFETY: as above; volatile, so that the load is made; the value is not used.
            unsafe { byte.read_volatile() };
        }
    }

    /// The `T` at `offset`, or `Corrupt` if the region ends before it.
    #[inline]
    pub(crate) fn at<T: Shared>(&self, offset: usize) -> Result<&T> {
        let pointer = self.pointer(offset, size_of::<T>(), align_of::<T>())?;
        // SAFETY: in bounds and aligned (checked in `pointer`), any bytes are a `T` (S1), and fields that change while
        // others read are atomics (`Shared`); the mapping lives as long as `self` (R1).
        Ok(unsafe { pointer.cast::<T>().as_ref() })
    }

    /// The ring at `descriptor`, with entries of `entry_bytes`, or `Corrupt` if the region ends before it. The holder of the ring
    /// keeps the region.
    pub(crate) fn ring(&self, descriptor: Descriptor, entry_bytes: usize) -> Result<Ring> {
        let entries = 1usize.checked_shl(descriptor.log2_capacity).unwrap_or(usize::MAX);
        let words = self.slice::<AtomicU64>(descriptor.offset, entries.saturating_mul(entry_bytes / 8))?;
        // SAFETY: the caller keeps the region.
        Ok(Ring::new(unsafe { InRegion::new(words) }, entry_bytes))
    }

    /// `count` of `T` at `offset`, or `Corrupt` if the region ends before them.
    pub(crate) fn slice<T: Shared>(&self, offset: usize, count: usize) -> Result<&[T]> {
        let first = self.pointer(offset, size_of::<T>().saturating_mul(count), align_of::<T>())?.cast();
        // SAFETY: as in `at`, for each of them.
        Ok(unsafe { NonNull::slice_from_raw_parts(first, count).as_ref() })
    }

    /// Address of the region's first byte, from which addresses for prefetching are made.
    pub(crate) fn base(&self) -> *const u8 {
        self.base.as_ptr()
    }

    /// Address of `length_bytes` bytes at `offset`, inside what is known to be there, aligned to `align`.
    #[inline]
    pub(crate) fn pointer(&self, offset: usize, length_bytes: usize, align: usize) -> Result<NonNull<u8>> {
        let end = offset.checked_add(length_bytes);
        if end.is_none_or(|end| end > self.length_bytes()) || !offset.is_multiple_of(align) {
            return Err(self.outside(offset, length_bytes, align));
        }
        // SAFETY: `offset + length_bytes <= length <= reserve`, so the address is inside the mapping (R1).
        Ok(unsafe { self.base.add(offset) })
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

    /// The file's name, for error sentences.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        if !self.epoch.is_current() {
            return; // In a forked child neither the mapping nor the descriptor is ours to release (F1, F2).
        }
        // A failure leaves the mapping to the end of the process, which does no harm.
        // SAFETY: exactly the mapping that `map` made, in the process that made it; no borrow of it outlives `self`.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.reserve_bytes) };
    }
}

/// Maps `reserve_bytes` of the file, however long it is now.
fn map(file: &SharedFile, name: &str, reserve_bytes: usize, writable: bool) -> Result<NonNull<u8>> {
    let protection = if writable { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::READ };
    let flags = MapFlags::SHARED | MapFlags::NORESERVE;
    let map = || {
        // SAFETY: a new mapping at an address of the kernel's choice aliases nothing in this process.
        let base = unsafe { mmap(std::ptr::null_mut(), reserve_bytes, protection, flags, file, 0) }
            .map_err(|e| Error::system(format!("map {reserve_bytes} bytes of {name}"), e))?;
        if writable {
            // SAFETY: the range is exactly our new mapping, and not inheriting it breaks no promise (R3).
            let kept_from_children = unsafe { madvise(base, reserve_bytes, Advice::LinuxDontFork) };
            if let Err(e) = kept_from_children {
                // SAFETY: our new mapping, of which no address was handed out.
                let _ = unsafe { munmap(base, reserve_bytes) };
                return Err(Error::system(format!("keep {name} from children (MADV_DONTFORK)"), e));
            }
        }
        NonNull::new(base.cast()).ok_or_else(|| Error::system(format!("map {name}"), Errno::NOMEM))
    };
    if writable { fork::without_fork(map) } else { map() }
}

impl std::fmt::Debug for Region {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Region({}, {} bytes)", self.name, self.length_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::layout::PUBLISHER_MAGIC;

    #[test]
    fn a_region_grows_in_place_for_owner_and_reader() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let directory = Directory::of_user(root.path()).unwrap();
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
        // Both ways of prefaulting: the kernel's, and the one for old kernels.
        reader.prefault(&directory, 0..64 * PAGE_BYTES).unwrap();
        reader.touch(0, 64 * PAGE_BYTES);
        assert_eq!(reader.at::<AtomicU64>(63 * PAGE_BYTES).unwrap().load(Relaxed), 42);
        assert!(reader.at::<AtomicU64>(3).is_err(), "not aligned");
    }
}
