//! A mapping of a file from its first byte on, unmapped when it is dropped.
//!
//! Control path. Invariants:
//! - G1: `base` is a shared mapping of `bytes` bytes of this process, until drop; more than the file has now, as a rule.
//! - G2: a writable mapping does not reach a forked child (MADV_DONTFORK), and nothing else takes its place there
//!   (`fork::register_mapping`).

use crate::{
    error::{Error, Result},
    os::{
        file::SharedFile,
        fork::{self, Epoch},
    },
};
use rustix::{
    io::Errno,
    mm::{Advice, MapFlags, MremapFlags, ProtFlags, madvise, mmap, mremap, munmap},
    process::{Resource, getrlimit},
};
use std::ffi::c_void;

/// A mapped file.
pub(crate) struct Mapping {
    base: *mut c_void,
    bytes: usize,
    writable: bool,
    epoch: Epoch,
}

// SAFETY: the mapping belongs to no thread; all access goes through `Region`.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps `reserve_bytes` of `file`, or fewer if this process may not have that much address space or locked memory
    /// (`mlockall`), but `length_bytes` at least.
    pub(crate) fn new(
        file: &SharedFile,
        name: &str,
        (length_bytes, reserve_bytes): (usize, usize),
        writable: bool,
    ) -> Result<Mapping> {
        let protection = if writable { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::READ };
        let flags = MapFlags::SHARED | MapFlags::NORESERVE;
        // SAFETY: a new mapping at an address of the kernel's choice aliases nothing in this process.
        let map = |bytes| unsafe { mmap(std::ptr::null_mut(), bytes, protection, flags, file, 0) };
        Mapping::of_some_size(name, (length_bytes, reserve_bytes), writable, map)
    }

    /// Maps the same file again, at another address, as [`Mapping::new`] does.
    pub(crate) fn longer(&self, name: &str, (length_bytes, reserve_bytes): (usize, usize)) -> Result<Mapping> {
        // An old size of 0 makes a second mapping of a shared one (mremap(2)), which needs no descriptor.
        let (base, again) = (self.base, MremapFlags::MAYMOVE);
        // SAFETY: the mapping (G1) stays as it is; the new one aliases no object of this process.
        let map = |bytes| unsafe { mremap(base, 0, bytes, again) };
        Mapping::of_some_size(name, (length_bytes, reserve_bytes), self.writable, map)
    }

    fn of_some_size(
        name: &str,
        (length_bytes, reserve_bytes): (usize, usize),
        writable: bool,
        map: impl Fn(usize) -> std::result::Result<*mut c_void, Errno>,
    ) -> Result<Mapping> {
        let epoch = Epoch::current()?;
        // Twice the length, so that a file that grows step by step is not mapped at each step.
        let sizes = [reserve_bytes, reserve_bytes.min(2 * length_bytes)];
        let mut sizes = sizes.into_iter().filter(|&bytes| is_affordable(bytes));
        loop {
            let bytes = sizes.next().unwrap_or(length_bytes);
            let mapped = match writable {
                true => fork::register_mapping(bytes, || map(bytes).and_then(|base| kept_from_children(base, bytes))),
                false => map(bytes),
            };
            match mapped {
                Ok(base) => return Ok(Mapping { base, bytes, writable, epoch }),
                Err(Errno::AGAIN | Errno::NOMEM) if bytes > length_bytes => {}
                Err(errno) => return Err(Error::not_mapped(name, bytes, errno)),
            }
        }
    }

    pub(crate) fn base(&self) -> *mut u8 {
        self.base.cast()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        if !self.epoch.is_current() {
            return; // In a forked child the mapping is not ours to release (F1).
        }
        let (base, bytes) = (self.base, self.bytes);
        // A failure leaves the mapping to the end of the process, which does no harm.
        let unmap = || {
            // SAFETY: exactly our mapping (G1), in the process that made it; no borrow of it outlives `self`.
            let _ = unsafe { munmap(base, bytes) };
        };
        if self.writable { fork::unregister_mapping(base, unmap) } else { unmap() }
    }
}

/// Keeps a new mapping from forked children (G2).
fn kept_from_children(base: *mut c_void, bytes: usize) -> std::result::Result<*mut c_void, Errno> {
    // SAFETY: the range is exactly our new mapping, and not inheriting it breaks no promise.
    unsafe { madvise(base, bytes, Advice::LinuxDontFork) }.map(|()| base).inspect_err(|_| {
        // SAFETY: our new mapping, of which no address was handed out.
        let _ = unsafe { munmap(base, bytes) };
    })
}

/// Whether `bytes` are at most a quarter of the address space that this process may still have (`ulimit -v`): the rest is for
/// other files, and for the program.
fn is_affordable(bytes: usize) -> bool {
    let Some(limit_bytes) = getrlimit(Resource::As).current else { return true };
    let sizes = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let used_pages = sizes.split(' ').next().and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0);
    let used_bytes = used_pages * rustix::param::page_size() as u64;
    bytes as u64 <= limit_bytes.saturating_sub(used_bytes) / 4
}
