//! A region: one file mapped once, with room to grow in place.
//!
//! Used by `board`, `process_file`, `peer`, `publisher_file` and `source`. Control path, but for [`Region::at`] and
//! [`Region::pointer`], which are arithmetic. Invariants:
//! - R1: `base` is a mapping of `reserve_bytes` bytes, until drop; the file never shrinks (we never truncate, and within
//!   one user nobody else does: docs/memory-layout.md, "trust").
//! - R2: bytes below `length` are backed by allocated pages (`fallocate`), so that a full file system is an error here
//!   and never a SIGBUS later; but for what its owner punched out, which is free memory that no entry names.
//! - R3: only the owner's mapping is writable, and it does not reach a forked child (MADV_DONTFORK).

use crate::{
    crash::{self, Point},
    directory::Directory,
    error::{Error, Result},
    fork::{self, Epoch},
    layout::PAGE_BYTES,
    shared::Shared,
};
use rustix::{
    fs::{FallocateFlags, Mode, OFlags, SeekFrom, fallocate, fstat, fstatvfs, openat, seek},
    io::Errno,
    mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap},
};
use std::{
    mem::ManuallyDrop,
    ops::Range,
    os::fd::{AsFd, AsRawFd, OwnedFd},
    ptr::NonNull,
    sync::atomic::{AtomicUsize, Ordering::*},
};

/// What one region can hold at most: entries of a ring name slots by 32 bits of 64-byte units.
pub(crate) const MAX_RESERVE_BYTES: usize = 64 << 32;

/// A mapped file.
pub(crate) struct Region {
    base: NonNull<u8>,
    reserve_bytes: usize,
    /// Known length of the file. W: whoever grows it or looks at its size again. Relaxed: a larger value is never needed
    /// for safety, and the bytes it covers exist since before it was stored.
    length_bytes: AtomicUsize,
    /// Closed by `drop`, but not in a forked child (its `pthread_atfork` handler closed what must be closed there).
    file: ManuallyDrop<OwnedFd>,
    epoch: Epoch,
    /// For error sentences.
    name: String,
    writable: bool,
}

// SAFETY: the mapping belongs to no thread; all access goes through atomics or through bytes whose exclusive or shared
// use the protocol hands over (lib.rs, I4 and I5).
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

impl Region {
    /// Makes an unnamed file of `length_bytes` in `directory`, writable here. `what` says what for, should there be no room.
    pub(crate) fn create(
        directory: &Directory,
        name: &str,
        what: &str,
        length_bytes: usize,
        reserve_bytes: usize,
    ) -> Result<Region> {
        let reserve_bytes = reserve_bytes.max(length_bytes);
        let region = fork::register(|| {
            let (flags, mode) = (OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR);
            let file = openat(directory, ".", flags, mode).map_err(|e| {
                Error::system(format!("create an unnamed file (O_TMPFILE: a tmpfs can) in {directory}"), e)
            })?;
            let region = Region::map(file, name, 0, reserve_bytes, true)?;
            crash::point(Point::FileMade);
            Ok((region.file.as_raw_fd(), region))
        })?;
        region.grow(directory, what, length_bytes)?;
        Ok(region)
    }

    /// Opens a file of `directory`; writable only for the board.
    pub(crate) fn open(directory: &Directory, name: &str, reserve_bytes: usize, writable: bool) -> Result<Region> {
        let access = if writable { OFlags::RDWR } else { OFlags::RDONLY };
        // NONBLOCK: a FIFO that somebody put there must not stop us.
        let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let open = || {
            let file = openat(directory, name, flags, Mode::empty())
                .map_err(|e| Error::system(format!("open {directory}/{name}"), e))?;
            let length_bytes = checked_length(&file, name)?;
            let region = Region::map(file, name, length_bytes, reserve_bytes.max(length_bytes), writable)?;
            Ok((region.file.as_raw_fd(), region))
        };
        if writable { fork::register(open) } else { open().map(|(_, region)| region) }
    }

    fn map(file: OwnedFd, name: &str, length_bytes: usize, reserve_bytes: usize, writable: bool) -> Result<Region> {
        let reserve_bytes = reserve_bytes.max(1).next_multiple_of(PAGE_BYTES); // an empty file can be mapped, too
        let protection = if writable { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::READ };
        let flags = MapFlags::SHARED | MapFlags::NORESERVE;
        let epoch = Epoch::current()?;
        // SAFETY: a new mapping at an address of the kernel's choice aliases nothing in this process.
        let base = unsafe { mmap(std::ptr::null_mut(), reserve_bytes, protection, flags, &file, 0) }
            .map_err(|e| Error::system(format!("map {reserve_bytes} bytes of {name}"), e))?;
        let Some(base) = NonNull::new(base.cast::<u8>()) else {
            return Err(Error::system(format!("map {name}"), Errno::NOMEM));
        };
        if writable {
            // SAFETY: the range is exactly our new mapping, and not inheriting it breaks no promise to anyone (R3).
            let kept_from_children = unsafe { madvise(base.as_ptr().cast(), reserve_bytes, Advice::LinuxDontFork) };
            if let Err(e) = kept_from_children {
                // SAFETY: our new mapping, which nobody has an address of.
                let _ = unsafe { munmap(base.as_ptr().cast(), reserve_bytes) };
                return Err(Error::system(format!("keep {name} from children (MADV_DONTFORK)"), e));
            }
        }
        Ok(Region {
            base,
            reserve_bytes,
            length_bytes: AtomicUsize::new(length_bytes),
            file: ManuallyDrop::new(file),
            epoch,
            name: name.to_owned(),
            writable,
        })
    }

    /// Reader: maps the file again with more room to grow, before anyone has taken an address of it.
    pub(crate) fn with_reserve(&self, reserve_bytes: u64) -> Result<Region> {
        if reserve_bytes > MAX_RESERVE_BYTES as u64 {
            let expected = format!("at most {MAX_RESERVE_BYTES} bytes");
            return Err(Error::corrupt(&self.name, "its reserve", expected, reserve_bytes));
        }
        let file = self.file.try_clone().map_err(|e| Error::system(format!("use {} once more", self.name), e))?;
        let length_bytes = checked_length(&file, &self.name)?;
        if length_bytes > reserve_bytes as usize {
            let expected = format!("at most its reserve of {reserve_bytes} bytes");
            return Err(Error::corrupt(&self.name, "its length", expected, length_bytes));
        }
        Region::map(file, &self.name, length_bytes, reserve_bytes as usize, false)
    }

    /// Gives an unnamed file its name; from now on others see it.
    pub(crate) fn link(&self, directory: &Directory, name: &str) -> std::result::Result<(), Errno> {
        directory.link(&*self.file, name)
    }

    /// The descriptor that locks and probes work on.
    pub(crate) fn file(&self) -> &OwnedFd {
        &self.file
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
    /// `what` says what for, should there be no room.
    pub(crate) fn grow(&self, directory: &Directory, what: &str, length_bytes: usize) -> Result<()> {
        let old = self.length_bytes();
        if length_bytes > old {
            allocate(&self.file, directory, what, old, length_bytes - old)?;
            crash::point(Point::FileGrown);
            self.length_bytes.store(length_bytes, Relaxed);
        }
        Ok(())
    }

    /// Owner: puts pages behind `range` again, after [`Region::punch`].
    pub(crate) fn fill(&self, directory: &Directory, what: &str, range: Range<usize>) -> Result<()> {
        allocate(&self.file, directory, what, range.start, range.len())
    }

    /// Owner: gives the pages of `range`, whole pages that nobody uses, back to the system.
    pub(crate) fn punch(&self, range: Range<usize>) -> Result<()> {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        fallocate(&*self.file, flags, range.start as u64, range.len() as u64)
            .map_err(|e| Error::system(format!("give {} bytes of {} back", range.len(), self.name), e))
    }

    /// Reader: looks how long the file is now.
    pub(crate) fn refresh_length(&self) -> Result<usize> {
        let length_bytes = checked_length(&self.file, &self.name)?.min(self.reserve_bytes);
        // Others may refresh at the same time; the length never falls, so neither may this.
        Ok(self.length_bytes.fetch_max(length_bytes, Relaxed).max(length_bytes))
    }

    /// Reader: brings the pages between `start` and `end` that the owner brought in into this process's page table, so that the
    /// data path does not fault. Returns up to where there were some; holes that the owner punched stay holes.
    pub(crate) fn prefault(&self, start: usize, end: usize) -> usize {
        let end = end.min(self.length_bytes());
        let mut done = start.min(end);
        // What was allocated and never written counts as a hole, too: hence `populate` by the owner.
        while let Ok(data) = seek(&*self.file, SeekFrom::Data(done as u64)) {
            let hole = seek(&*self.file, SeekFrom::Hole(data)).map_or(end, |hole| hole as usize);
            if data as usize >= end || hole <= data as usize {
                break;
            }
            self.populate(data as usize, hole.min(end));
            done = hole.min(end);
        }
        done
    }

    /// Brings in pages that were just allocated (or are known to be there). Best effort: a kernel that cannot (before 5.14) gets
    /// each page touched instead.
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
            self.touch(start, end); // this kernel does not know the advice
        }
    }

    /// What [`Region::populate`] does on kernels before 5.14.
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
        // others look are atomics (`Shared`); the mapping lives as long as `self` (R1).
        Ok(unsafe { pointer.cast::<T>().as_ref() })
    }

    /// `count` of `T` at `offset`, or `Corrupt` if the region ends before them.
    pub(crate) fn slice<T: Shared>(&self, offset: usize, count: usize) -> Result<&[T]> {
        let first = self.pointer(offset, size_of::<T>().saturating_mul(count), align_of::<T>())?.cast();
        // SAFETY: as in `at`, for each of them.
        Ok(unsafe { NonNull::slice_from_raw_parts(first, count).as_ref() })
    }

    /// Address of the region's first byte, to make addresses for prefetching from.
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
            return; // In a forked child neither the mapping nor the descriptor is ours to give back (F1, F2).
        }
        // A failure would leave the mapping to the end of the process, which harms nobody.
        // SAFETY: exactly the mapping that `map` made, in the process that made it; no borrow of it outlives `self`.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.reserve_bytes) };
        let (descriptor, writable) = (self.file.as_raw_fd(), self.writable);
        // SAFETY: dropped here once and not used again.
        let mut close = || unsafe { ManuallyDrop::drop(&mut self.file) };
        if writable { fork::unregister(descriptor, close) } else { close() }
    }
}

/// Length of a regular file that belongs to this user.
fn checked_length(file: &OwnedFd, name: &str) -> Result<usize> {
    let stat = fstat(file).map_err(|e| Error::system(format!("look at {name}"), e))?;
    let is_regular = rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::RegularFile;
    if !is_regular || stat.st_uid != rustix::process::geteuid().as_raw() {
        return Err(Error::Incompatible {
            file: name.to_owned(),
            why: format!("it is not a regular file of this user (mode {:o}, uid {})", stat.st_mode, stat.st_uid),
        });
    }
    usize::try_from(stat.st_size).map_err(|_| Error::corrupt(name, "its size", "a size", stat.st_size))
}

/// Puts pages behind `length_bytes` bytes at `offset`; the kernel takes back what it gave if there is not enough.
fn allocate(file: &OwnedFd, directory: &Directory, what: &str, offset: usize, length_bytes: usize) -> Result<()> {
    loop {
        match fallocate(file, FallocateFlags::empty(), offset as u64, length_bytes as u64) {
            Ok(()) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(Errno::NOSPC | Errno::DQUOT) => return Err(no_room(file, directory, what, length_bytes)),
            Err(e) => {
                return Err(Error::system(format!("allocate {length_bytes} bytes in {directory} for {what}"), e));
            }
        }
    }
}

fn no_room(file: &OwnedFd, directory: &Directory, what: &str, needed_bytes: usize) -> Error {
    let (free_bytes, total_bytes) =
        fstatvfs(file.as_fd()).map(|s| (s.f_bavail * s.f_frsize, s.f_blocks * s.f_frsize)).unwrap_or((0, 0));
    Error::NoRoom {
        what: what.to_owned(),
        needed_bytes: needed_bytes as u64,
        free_bytes,
        total_bytes,
        directory: directory.path().to_owned(),
    }
}

impl std::fmt::Debug for Region {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Region({}, fd {}, {} bytes)", self.name, self.file.as_raw_fd(), self.length_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn a_region_grows_in_place_for_owner_and_reader() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let directory = Directory::of_user(root.path()).unwrap();
        let owner = Region::create(&directory, "test", "a test", PAGE_BYTES, 1 << 30).unwrap();
        owner.link(&directory, "test").unwrap();
        let reader = Region::open(&directory, "test", 0, false).unwrap().with_reserve(1 << 30).unwrap();
        assert!(reader.at::<AtomicU64>(PAGE_BYTES).is_err(), "beyond the end");
        owner.grow(&directory, "a test", 64 * PAGE_BYTES).unwrap();
        owner.populate(0, 64 * PAGE_BYTES);
        owner.at::<AtomicU64>(63 * PAGE_BYTES).unwrap().store(42, Relaxed);
        assert_eq!(reader.refresh_length().unwrap(), 64 * PAGE_BYTES);
        // Both ways of prefaulting: the kernel's, and the one for kernels that have none.
        assert_eq!(reader.prefault(0, usize::MAX / 2), 64 * PAGE_BYTES);
        reader.touch(0, 64 * PAGE_BYTES);
        assert_eq!(reader.at::<AtomicU64>(63 * PAGE_BYTES).unwrap().load(Relaxed), 42);
        assert!(reader.at::<AtomicU64>(3).is_err(), "not aligned");
        assert!(reader.with_reserve(u64::MAX).is_err(), "a reserve that nobody can mean");
    }
}
