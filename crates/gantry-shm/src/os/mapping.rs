//! A mapping of a file from its first byte on, which is unmapped when it is dropped.
//!
//! This module is on the control path. Invariants:
//! - G1: until drop, `base` is the address of a shared mapping of `bytes` bytes of this process; as a rule the mapping
//!   is longer than the file is now. `base` never changes, `bytes` only grows.
//! - G2: a writable mapping does not reach a forked child (MADV_DONTFORK), and no other mapping takes its place there
//!   (`fork::Kept`).

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
use std::{
    ffi::c_void,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

/// The address for the next mapping that is shorter than its reserve. If the kernel chose the address, it would
/// place each mapping right below another one and leave no room to lengthen it.
static NEXT_PLACE: AtomicUsize = AtomicUsize::new(1 << 36);

/// A mapped file.
pub(crate) struct Mapping {
    pub(crate) base: *mut c_void,
    pub(crate) bytes: usize,
    writable: bool,
    epoch: Epoch,
}

// SAFETY: the mapping belongs to no thread; all access goes through `Region`.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps `file`. `sizes` are the file's present length and its reserve. The mapping has the size of the reserve. If
    /// this process may not have as much address space or locked memory (`mlockall`), the mapping is shorter, but at
    /// least as long as the file.
    pub(crate) fn new(file: &SharedFile, name: &str, sizes: (usize, usize), writable: bool) -> Result<Mapping> {
        let epoch = Epoch::current()?;
        let protection = if writable { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::READ };
        let flags = MapFlags::SHARED | MapFlags::NORESERVE;
        let map = |bytes| {
            let place = if bytes < sizes.1 { NEXT_PLACE.fetch_add(sizes.1, Relaxed) } else { 0 };
            let place = std::ptr::without_provenance_mut(place); // a hint; the kernel chooses if it is 0 or taken
            // SAFETY: a new mapping, which replaces none (no MAP_FIXED), aliases nothing in this process.
            unsafe { mmap(place, bytes, protection, flags, file, 0) }
        };
        let (base, bytes) = map_some_size(name, sizes, writable, map)?;
        Ok(Mapping { base, bytes, writable, epoch })
    }

    /// Makes the mapping longer if the addresses behind it are free, and returns `None`. Otherwise maps the same file
    /// again at another address, and returns that mapping. `sizes` as for [`Mapping::new`].
    pub(crate) fn lengthen(&mut self, name: &str, sizes: (usize, usize)) -> Result<Option<Mapping>> {
        let &mut Mapping { base, bytes, writable, epoch } = self;
        // SAFETY: all of the mapping (G1), which stays where it is.
        let in_place = |longer_bytes| unsafe { mremap(base, bytes, longer_bytes, MremapFlags::empty()) };
        // An old size of 0 makes a second mapping of a shared one (mremap(2)), which needs no descriptor. SAFETY: the
        // old mapping (G1) stays as it is; the new mapping aliases no object of this process.
        let again = |bytes| unsafe { mremap(base, 0, bytes, MremapFlags::MAYMOVE) };
        let longer = map_some_size(name, sizes, writable, in_place);
        let (place, bytes) = longer.or_else(|_| map_some_size(name, sizes, writable, again))?;
        if place == base {
            self.bytes = bytes;
            return Ok(None);
        }
        Ok(Some(Mapping { base: place, bytes, writable, epoch }))
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        if !self.epoch.is_current() {
            return; // after a fork, only the parent unmaps the range (F1)
        }
        fork::without_fork(|kept| {
            kept.remove_mapping(self.base);
            // A failure leaves the mapping to the end of the process, which does no harm. SAFETY: the range is
            // exactly our mapping (G1), in the process that made it; no borrow of it outlives `self`.
            let _ = unsafe { munmap(self.base, self.bytes) };
        });
    }
}

/// Calls `map` with decreasing sizes until the kernel allows one; returns the mapping's address and size.
fn map_some_size(
    name: &str,
    (length_bytes, reserve_bytes): (usize, usize),
    writable: bool,
    map: impl Fn(usize) -> std::result::Result<*mut c_void, Errno>,
) -> Result<(*mut c_void, usize)> {
    let map_for_writing = |bytes| {
        fork::without_fork(|kept| {
            let base = map(bytes)?;
            // After an error the memory stays mapped, which does no harm. SAFETY: the range is exactly the mapping,
            // which has this advice or is new. A child that does not inherit the mapping breaks no promise.
            unsafe { madvise(base, bytes, Advice::LinuxDontFork) }?;
            kept.add_mapping(base, bytes);
            Ok(base)
        })
    };
    // The second size is twice the length, so that a file that grows in steps is not mapped at each step.
    let sizes = [reserve_bytes, reserve_bytes.min(2 * length_bytes)];
    let mut sizes = sizes.into_iter().filter(|&bytes| is_affordable(bytes));
    loop {
        let bytes = sizes.next().unwrap_or(length_bytes);
        let mapped = if writable { map_for_writing(bytes) } else { map(bytes) };
        match mapped {
            Ok(base) => return Ok((base, bytes)),
            Err(Errno::AGAIN | Errno::NOMEM) if bytes > length_bytes => {}
            Err(errno) => return Err(Error::not_mapped(name, bytes, errno)),
        }
    }
}

/// Whether `bytes` are at most a quarter of the address space that this process may still have (`ulimit -v`): the rest
/// is for other files, and for the program.
fn is_affordable(bytes: usize) -> bool {
    let Some(limit_bytes) = getrlimit(Resource::As).current else { return true };
    let sizes = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let used_pages = sizes.split(' ').next().and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0);
    let used_bytes = used_pages * rustix::param::page_size() as u64;
    bytes as u64 <= limit_bytes.saturating_sub(used_bytes) / 4
}
