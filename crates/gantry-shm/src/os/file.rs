//! A file in a domain's directory: its creation, opening, checks and allocation of pages.
//!
//! A `region` maps the file and may then close it: descriptors are few (`ulimit -n`), so only files that carry locks
//! stay open (the board, process files). This module is on the control path. Invariants:
//! - R4: an opened file is a regular file of this user that starts with a [`FileHeader`] of our version.
//! - F3 (`fork`): no child begins with a writable descriptor that is not registered for its handler.

use crate::{
    error::{Error, Result},
    os::{
        directory::Directory,
        fork::{self, Epoch},
    },
    protocol::layout::*,
};
use rustix::{
    fs::{FallocateFlags, FileType, Mode, OFlags, SeekFrom, Stat, fallocate, fchmod, fstat, fstatvfs, openat, seek},
    io::{Errno, pread},
    process::{Resource, getrlimit},
};
use std::{
    mem::ManuallyDrop,
    ops::Range,
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
};

/// An open file.
pub(crate) struct SharedFile {
    /// The file's descriptor. `drop` closes it, but not in a forked child, whose `pthread_atfork` handler has closed
    /// the descriptors that must not stay open.
    descriptor: ManuallyDrop<OwnedFd>,
    epoch: Epoch,
}

impl SharedFile {
    /// Makes an empty file without a name, writable for this process.
    pub(crate) fn create(directory: &Directory) -> Result<SharedFile> {
        SharedFile::register(true, || {
            let (flags, mode) = (OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR);
            let error = |e| Error::system(format!("create an unnamed file (O_TMPFILE: a tmpfs can) in {directory}"), e);
            let file = openat(directory, ".", flags, mode).map_err(error)?;
            // The umask may have removed bits of the mode.
            fchmod(&file, mode).map_err(error)?;
            Ok(file)
        })
    }

    /// Opens a file of `directory`. A file is writable only for its owner; the board is writable for all.
    pub(crate) fn open(directory: &Directory, name: &str, writable: bool) -> Result<SharedFile> {
        let access = if writable { OFlags::RDWR } else { OFlags::RDONLY };
        // NONBLOCK: a FIFO with this name must not block this process.
        let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        SharedFile::register(writable, || {
            openat(directory, name, flags, Mode::empty())
                .map_err(|e| Error::system(format!("open {directory}/{name}"), e))
        })
    }

    fn register(writable: bool, open: impl FnOnce() -> Result<OwnedFd>) -> Result<SharedFile> {
        let epoch = Epoch::current()?;
        fork::without_fork(|kept| {
            let descriptor = ManuallyDrop::new(open()?);
            if writable {
                kept.descriptors.push(descriptor.as_raw_fd());
            }
            Ok(SharedFile { descriptor, epoch })
        })
    }

    /// The file's metadata, if it is a regular file of this user (R4).
    pub(crate) fn stat(&self, name: &str) -> Result<Stat> {
        let stat = fstat(self).map_err(|e| Error::system(format!("read the metadata of {name}"), e))?;
        let is_regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        let is_ours = stat.st_uid == rustix::process::geteuid().as_raw() && stat.st_mode & 0o022 == 0;
        if !is_regular || !is_ours || stat.st_nlink > 1 {
            let (mode, uid, links) = (stat.st_mode, stat.st_uid, stat.st_nlink);
            let why = format!(
                "it is not a regular file with one name that this user alone may write (mode {mode:o}, uid {uid}, {links} names)"
            );
            return Err(Error::Incompatible { file: name.to_owned(), why });
        }
        Ok(stat)
    }

    /// Whether the file still has its name; `true` if the kernel gives no answer.
    pub(crate) fn has_name(&self) -> bool {
        fstat(self).map_or(true, |stat| stat.st_nlink > 0)
    }

    /// Refuses a file of another kind, version or layout (R4); returns the address space that its readers should map.
    pub(crate) fn check_header(&self, name: &str, magic: u64) -> Result<u64> {
        let mut bytes = [0; size_of::<FileHeader>()];
        let found = pread(self, &mut bytes[..], 0).map_err(|e| Error::system(format!("read {name}"), e))?;
        let header: FileHeader = zerocopy::transmute!(bytes);
        let (version, layout_hash) = (header.version, header.layout_hash);
        let why = if found < bytes.len() {
            format!("it has {found} bytes and the header alone has {}", bytes.len())
        } else if header.magic != magic {
            format!("it starts with {:016x}, expected {magic:016x}", header.magic)
        } else if version != FORMAT_VERSION {
            format!("its format version is {version} and this program uses {FORMAT_VERSION}")
        } else if layout_hash != LAYOUT_HASH {
            format!("its layout hash is {layout_hash:016x} and this program uses {LAYOUT_HASH:016x}")
        } else {
            return Ok(header.reserve_bytes);
        };
        Err(Error::Incompatible { file: name.to_owned(), why })
    }

    /// Allocates the pages of `range`, all or none; `what` is the purpose of the pages, for an error.
    pub(crate) fn allocate(&self, directory: &Directory, what: &str, range: Range<usize>) -> Result<()> {
        let failed = |why: &str, errno| {
            Error::system(format!("allocate {} bytes in {directory} for {what}{why}", range.len()), errno)
        };
        // Beyond the limit, the kernel would end this process by SIGXFSZ.
        if let Some(limit_bytes) = getrlimit(Resource::Fsize).current.filter(|&limit| limit < range.end as u64) {
            let why = format!(" (ulimit -f allows files of {limit_bytes} bytes, and this one needs {})", range.end);
            return Err(failed(&why, Errno::FBIG));
        }
        loop {
            match fallocate(self, FallocateFlags::empty(), range.start as u64, range.len() as u64) {
                Ok(()) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(Errno::NOSPC | Errno::DQUOT) => return Err(self.no_room(directory, what, range.len())),
                Err(errno) => return Err(failed("", errno)),
            }
        }
    }

    fn no_room(&self, directory: &Directory, what: &str, needed_bytes: usize) -> Error {
        let (free_bytes, total_bytes) =
            fstatvfs(self).map(|s| (s.f_bavail * s.f_frsize, s.f_blocks * s.f_frsize)).unwrap_or((0, 0));
        Error::NoRoom {
            what: what.to_owned(),
            needed_bytes: needed_bytes as u64,
            free_bytes,
            total_bytes,
            directory: directory.path().to_owned(),
        }
    }

    /// The first range of populated pages from `start` on, up to the next hole. Pages that were allocated but never
    /// touched count as a hole.
    pub(crate) fn next_data(&self, start: usize) -> Option<Range<usize>> {
        let data = seek(self, SeekFrom::Data(start as u64)).ok()?;
        let hole = seek(self, SeekFrom::Hole(data)).ok()?;
        (hole > data).then_some(data as usize..hole as usize)
    }
}

impl AsFd for SharedFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

impl Drop for SharedFile {
    fn drop(&mut self) {
        if !self.epoch.is_current() {
            return; // in a forked child, this handle must not close it (F2)
        }
        fork::without_fork(|kept| {
            kept.descriptors.retain(|&registered| registered != self.descriptor.as_raw_fd());
            // SAFETY: dropped here once and not used again.
            unsafe { ManuallyDrop::drop(&mut self.descriptor) };
        });
    }
}
