//! Protection of a process's regions and locks when it forks.
//!
//! Every public operation and every `Drop` of the engine checks the epoch (two loads of private memory). Invariants:
//! - F1: the *epoch* is a word on a page that the kernel wipes in a child (MADV_WIPEONFORK): a handle made in the
//!   parent never finds its own epoch in a child, so it does nothing there.
//! - F2: a child closes the parent's writable files before it runs anything else (`pthread_atfork`), and never unlocks
//!   them: open-file-description locks belong to the description, which the parent still has. So the parent's death is
//!   seen even while the child lives.
//! - F3: files that this process may write, and so may lock, are opened, mapped, registered and closed under one mutex
//!   that `fork` waits for. So each description that a child inherits is registered for the child's handler, and the
//!   handler closes no other descriptor.
//! - F4: a child has no access to the parent's writable mappings (MADV_DONTFORK), and no later mapping of the child
//!   takes their place: the handler puts inaccessible memory there. A stray write through a handle of the parent is a
//!   SIGSEGV.
//!
//! One case is not covered: if a thread of the process is joining a domain at a fork, a `join` in the child may wait
//! for ever (as `malloc` may, without an allocator that handles fork).

use crate::{
    error::{Error, Result},
    protocol::layout::PAGE_BYTES,
};
use rustix::{
    io::Errno,
    mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous},
};
use std::{
    cell::UnsafeCell,
    ffi::c_void,
    os::fd::RawFd,
    sync::{
        Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering::*},
    },
};

/// The descriptors and mappings of this process that a forked child must not keep.
pub(crate) struct Kept {
    pub(crate) descriptors: Vec<RawFd>,
    /// Address and length of each mapping.
    mappings: Vec<(usize, usize)>,
}

impl Kept {
    /// Registers the mapping at `base`, which is new or has become longer.
    pub(crate) fn add_mapping(&mut self, base: *mut c_void, bytes: usize) {
        self.remove_mapping(base);
        self.mappings.push((base.addr(), bytes));
    }

    pub(crate) fn remove_mapping(&mut self, base: *mut c_void) {
        self.mappings.retain(|&(address, _)| address != base.addr());
    }
}

static KEPT: Mutex<Kept> = Mutex::new(Kept { descriptors: Vec::new(), mappings: Vec::new() });
static EPOCH_PAGE: OnceLock<std::result::Result<&'static AtomicU64, Errno>> = OnceLock::new();

/// The guard of `KEPT` during a fork. The static is no thread-local, because a thread that is ending may fork after
/// its thread-locals were destroyed.
struct HeldOverFork(UnsafeCell<Option<MutexGuard<'static, Kept>>>);

// SAFETY: only the forking thread uses the cell; this thread holds the lock of `KEPT` from the prepare handler until
// the handler of the parent or of the child.
unsafe impl Sync for HeldOverFork {}

static HELD_OVER_FORK: HeldOverFork = HeldOverFork(UnsafeCell::new(None));

/// The epoch of a process: the time between two forks. A handle keeps the epoch in which it was made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Epoch {
    /// The word that holds the number of the current epoch (F1).
    current: &'static AtomicU64,
    /// The number of the epoch. No later epoch gets the same number.
    pub(crate) number: u64,
}

impl Epoch {
    /// The current epoch; begins a new epoch after a fork or the start of the process. The function is on the
    /// control path.
    pub(crate) fn current() -> Result<Epoch> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let current = epoch_page()?;
        let fresh = NEXT.fetch_add(1, Relaxed);
        // Relaxed: no other data depends on this word.
        let number = current.compare_exchange(0, fresh, Relaxed, Relaxed).err().unwrap_or(fresh);
        Ok(Epoch { current, number })
    }

    /// Whether this process is the process in which the handle was made.
    #[inline]
    pub(crate) fn is_current(self) -> bool {
        self.current.load(Relaxed) == self.number
    }

    /// Returns the error [`Error::Forked`] if this process is not the process in which the handle was made.
    #[inline]
    pub(crate) fn check(self) -> Result<()> {
        if self.is_current() { Ok(()) } else { Err(Error::Forked) }
    }
}

/// Runs `run` while no fork can happen (F3), so that no child begins with a lock held that `run` takes and releases.
pub(crate) fn without_fork<T>(run: impl FnOnce(&mut Kept) -> T) -> T {
    run(&mut kept())
}

fn kept() -> MutexGuard<'static, Kept> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

fn epoch_page() -> Result<&'static AtomicU64> {
    EPOCH_PAGE
        .get_or_init(|| {
            let protection = ProtFlags::READ | ProtFlags::WRITE;
            // SAFETY: a new anonymous mapping at an address of the kernel's choice aliases nothing.
            let page = unsafe { mmap_anonymous(std::ptr::null_mut(), PAGE_BYTES, protection, MapFlags::PRIVATE) }?;
            // SAFETY: the page is ours alone; it exists to be wiped in children.
            unsafe { madvise(page, PAGE_BYTES, Advice::LinuxWipeOnFork) }?;
            // SAFETY: the three handlers are `extern "C"` functions that live as long as the program.
            let code = unsafe { libc::pthread_atfork(Some(before_fork), Some(after_in_parent), Some(after_in_child)) };
            if code != 0 {
                return Err(Errno::from_raw_os_error(code));
            }
            // SAFETY: the page is zeroed, aligned, never unmapped and only ever accessed as this atomic.
            Ok(unsafe { &*page.cast::<AtomicU64>() })
        })
        .map_err(|errno| Error::system("prepare this process for fork (MADV_WIPEONFORK, pthread_atfork)", errno))
}

extern "C" fn before_fork() {
    let guard = kept();
    // SAFETY: this thread has `KEPT` locked (`HeldOverFork`).
    unsafe { *HELD_OVER_FORK.0.get() = Some(guard) };
}

/// Takes the guard out of the cell; its drop then unlocks `KEPT`.
fn after_fork() -> Option<MutexGuard<'static, Kept>> {
    // SAFETY: this thread ran `before_fork`, and has `KEPT` locked since then (`HeldOverFork`).
    unsafe { (*HELD_OVER_FORK.0.get()).take() }
}

extern "C" fn after_in_parent() {
    drop(after_fork());
}

extern "C" fn after_in_child() {
    let Some(mut kept) = after_fork() else { return };
    for descriptor in kept.descriptors.drain(..) {
        // SAFETY: closing is async-signal-safe. The owner of this copy of the descriptor is a handle of the parent,
        // which does nothing in this process (F1), so no code here uses or closes the number again.
        unsafe { libc::close(descriptor) };
    }
    for (address, bytes) in kept.mappings.drain(..) {
        let (place, protection) = (std::ptr::without_provenance_mut(address), ProtFlags::empty());
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED_NOREPLACE;
        // After a failure, the child's next mapping may take the place of the missing mapping, and a stray write may
        // hit it. SAFETY: a system call, which replaces no mapping (FIXED_NOREPLACE).
        let _ = unsafe { mmap_anonymous(place, bytes, protection, flags) };
    }
}
