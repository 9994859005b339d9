//! Protection of a process's regions and locks when it forks.
//!
//! Every public operation and every `Drop` of the engine checks the epoch (two loads of private memory). Invariants:
//! - F1: the *epoch* is a word on a page that the kernel wipes in a child (MADV_WIPEONFORK): a handle made in the
//!   parent never finds its own epoch in a child, and does nothing there.
//! - F2: a child closes the parent's writable files before it runs anything else (`pthread_atfork`), and never unlocks them:
//!   open-file-description locks belong to the description, which the parent still has. So the parent's death is seen
//!   even while the child lives.
//! - F3: files that are written here, and so may be locked, are opened, mapped, registered and closed under one mutex that
//!   `fork` waits for: no child begins with a description that is not registered for its handler, and none closes a descriptor
//!   that is not one of these.
//!
//! Not covered: `join` may wait for ever in a child of a process whose other threads were joining at the fork (so may `malloc`
//! in such a child, without an allocator that handles fork).

use crate::error::{Error, Result};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous};
use std::{
    cell::RefCell,
    os::fd::{AsRawFd, OwnedFd, RawFd},
    sync::{
        Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering::*},
    },
};

static DESCRIPTORS: Mutex<Vec<RawFd>> = Mutex::new(Vec::new());
static EPOCH_PAGE: OnceLock<std::result::Result<&'static AtomicU64, rustix::io::Errno>> = OnceLock::new();

thread_local! {
    /// The mutex's guard, held by the forking thread from the prepare handler to the parent or child handler.
    static HELD_OVER_FORK: RefCell<Option<MutexGuard<'static, Vec<RawFd>>>> = const { RefCell::new(None) };
}

/// The time between two forks; a handle keeps the epoch in which it was made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Epoch {
    /// The word that holds the number of the current epoch (F1).
    current: &'static AtomicU64,
    /// A number that is never used again.
    pub(crate) number: u64,
}

impl Epoch {
    /// The current epoch; begins one after a fork or the start of the process. Control path.
    pub(crate) fn current() -> Result<Epoch> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let current = epoch_page()?;
        let fresh = NEXT.fetch_add(1, Relaxed);
        // Relaxed: the word publishes nothing but itself.
        let number = current.compare_exchange(0, fresh, Relaxed, Relaxed).err().unwrap_or(fresh);
        Ok(Epoch { current, number })
    }

    /// Whether this process is the one that the handle was made in.
    #[inline]
    pub(crate) fn is_current(self) -> bool {
        self.current.load(Relaxed) == self.number
    }

    /// [`Error::Forked`] unless [`Epoch::is_current`].
    #[inline]
    pub(crate) fn check(self) -> Result<()> {
        if self.is_current() { Ok(()) } else { Err(Error::Forked) }
    }
}

/// Runs `open`, which opens a file that must not stay open in a child, while no fork can happen (F3).
pub(crate) fn register(open: impl FnOnce() -> Result<OwnedFd>) -> Result<OwnedFd> {
    epoch_page()?;
    let mut descriptors = DESCRIPTORS.lock().unwrap_or_else(PoisonError::into_inner);
    let descriptor = open()?;
    descriptors.push(descriptor.as_raw_fd());
    Ok(descriptor)
}

/// Runs `run` while no fork can happen: it maps memory and keeps it from children (F3), or locks what a child may lock, too.
pub(crate) fn without_fork<T>(run: impl FnOnce() -> T) -> T {
    let _descriptors = DESCRIPTORS.lock().unwrap_or_else(PoisonError::into_inner);
    run()
}

/// Runs `close`, which closes a registered descriptor, while no fork can happen (F3).
pub(crate) fn unregister(descriptor: RawFd, close: impl FnOnce()) {
    let mut descriptors = DESCRIPTORS.lock().unwrap_or_else(PoisonError::into_inner);
    descriptors.retain(|&registered| registered != descriptor);
    close();
}

fn epoch_page() -> Result<&'static AtomicU64> {
    EPOCH_PAGE
        .get_or_init(|| {
            // SAFETY: a new anonymous mapping at an address of the kernel's choice aliases nothing.
            let page = unsafe {
                mmap_anonymous(
                    std::ptr::null_mut(),
                    crate::protocol::layout::PAGE_BYTES,
                    ProtFlags::READ | ProtFlags::WRITE,
                    MapFlags::PRIVATE,
                )
            }?;
            // SAFETY: the page is ours alone; it exists to be wiped in children.
            unsafe { madvise(page, crate::protocol::layout::PAGE_BYTES, Advice::LinuxWipeOnFork) }?;
            // SAFETY: the three handlers are `extern "C"` functions that live as long as the program.
            let code = unsafe { libc::pthread_atfork(Some(before_fork), Some(after_in_parent), Some(after_in_child)) };
            if code != 0 {
                return Err(rustix::io::Errno::from_raw_os_error(code));
            }
            // SAFETY: the page is zeroed, aligned, never unmapped and only ever accessed as this atomic.
            Ok(unsafe { &*page.cast::<AtomicU64>() })
        })
        .map_err(|errno| Error::system("prepare this process for fork (MADV_WIPEONFORK, pthread_atfork)", errno))
}

extern "C" fn before_fork() {
    let guard = DESCRIPTORS.lock().unwrap_or_else(PoisonError::into_inner);
    // A thread that is ending has no thread-local left; then the child keeps its copies until it execs.
    let _ = HELD_OVER_FORK.try_with(|held| held.borrow_mut().replace(guard));
}

extern "C" fn after_in_parent() {
    let _ = HELD_OVER_FORK.try_with(|held| held.borrow_mut().take());
}

extern "C" fn after_in_child() {
    let _ = HELD_OVER_FORK.try_with(|held| {
        if let Some(mut descriptors) = held.borrow_mut().take() {
            for &descriptor in descriptors.iter() {
                // SAFETY: closing is async-signal-safe; the owner of this copy is a handle of the parent, which does
                // nothing in this process (F1), so no code here uses or closes the number again.
                unsafe { libc::close(descriptor) };
            }
            descriptors.clear();
        }
    });
}
