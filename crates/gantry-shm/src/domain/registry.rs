//! The registry lock of a domain: a process holds it while it joins, leaves and reaps. A living process takes and frees
//! its waiter lines on the board without the lock; a reaper frees the lines of a dead process under the lock.
//!
//! The lock is an OFD lock on the board's file, so that the kernel releases it when its holder dies. A process that
//! joins or removes under the lock checks that the board still has its name (`board`, B2).

use crate::{
    crash::{self, Point},
    domain::board::{Board, wait_for_lock},
    error::{Error, Result},
    os::{directory::Directory, lock},
    protocol::{
        layout::{WAITER_LINES, WAITER_PLAIN, WAITER_WORDS, WaiterLine},
        sleep::{SHARED_WAITER, WaiterIndex},
        sync::{Ordering::*, Site, full_fence},
    },
};
use std::{
    sync::{MutexGuard, PoisonError},
    time::Duration,
};

/// The time for which a process waits for the registry lock before it returns an error that names the holder.
pub(crate) const REGISTRY_PATIENCE: Duration = Duration::from_secs(5);

/// A guard of the registry lock: while it exists, no other process joins, leaves or reaps.
pub(crate) struct Registry<'a> {
    pub(crate) board: &'a Board,
    /// The directory of the domain.
    pub(crate) directory: &'a Directory,
    _threads: MutexGuard<'a, ()>,
}

impl Board {
    /// Takes the registry lock; waits up to `patience` for each holder.
    pub(crate) fn lock<'a>(&'a self, directory: &'a Directory, patience: Duration) -> Result<Registry<'a>> {
        let threads = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        let acquisitions = || self.header.acquisitions.load(Relaxed);
        let mut seen = acquisitions();
        while !wait_for_lock(self.region.file()?, directory, patience)? {
            let found = acquisitions();
            if std::mem::replace(&mut seen, found) == found {
                let (directory, pid) = (directory.path().to_owned(), self.header.holder_pid.load(Relaxed));
                return Err(Error::RegistryBusy { directory, pid, waited_ms: patience.as_millis() as u64 });
            }
        }
        Ok(self.locked(directory, threads))
    }

    /// Takes the registry lock if it is free.
    pub(crate) fn try_lock<'a>(&'a self, directory: &'a Directory) -> Result<Option<Registry<'a>>> {
        let Ok(threads) = self.registry.try_lock() else { return Ok(None) };
        Ok(wait_for_lock(self.region.file()?, directory, Duration::ZERO)?.then(|| self.locked(directory, threads)))
    }

    fn locked<'a>(&'a self, directory: &'a Directory, threads: MutexGuard<'a, ()>) -> Registry<'a> {
        let registry = Registry { board: self, directory, _threads: threads };
        crash::point(Point::RegistryLocked);
        self.header.acquisitions.fetch_add(1, Relaxed);
        self.header.holder_pid.store(std::process::id(), Relaxed);
        registry
    }

    /// Takes a waiter line for the process whose id has the half `owner`; returns the shared line if all lines are
    /// taken.
    pub(crate) fn take_waiter(&self, owner: u64) -> WaiterIndex {
        let take = |line: &WaiterLine| {
            // Acquire: the line's previous owner has withdrawn the line from all sets; partner: `free`. Release: the
            // file of this process has its name; partner: `Board::waiter_owners`.
            line.owner.load(Relaxed) == 0 && line.owner.compare_exchange(0, owner, AcqRel, Relaxed).is_ok()
        };
        let Some(free) = self.waiters[..WAITER_LINES - 1].iter().position(take) else { return SHARED_WAITER };
        self.waiters[free].state.store(WAITER_PLAIN, Relaxed); // the previous owner may have died asleep
        crash::point(Point::WaiterTaken);
        WaiterIndex(free)
    }

    /// Frees a waiter's line. `owner` is half of the id of the process, which has withdrawn the line from all sets. The
    /// shared line is never freed. A line with another owner is not freed either: a reaper had taken this process for
    /// dead and freed the line, and another process took it.
    pub(crate) fn free_waiter(&self, waiter: WaiterIndex, owner: u64) {
        if waiter != SHARED_WAITER && owner != 0 {
            // Release: the owner is cleared after the waiter's bits were withdrawn from all sets. Partner:
            // `take_waiter`.
            let _ = self.waiters[waiter.0].owner.compare_exchange(owner, 0, Release, Relaxed);
            crash::point(Point::WaiterFreed);
        }
    }

    /// Frees the waiter lines of a process that is dead or leaves. Removes the waiters from the sets of every topic
    /// first, because the next owner of a waiter line must not be woken for topics of the previous owner. The removal
    /// also frees topic lines that only this process held.
    fn free(&self, waiters: &[WaiterIndex], owner: u64) {
        let is_owner = |waiter: &&WaiterIndex| self.waiters[waiter.0].owner.load(Relaxed) == owner;
        let waiters: Vec<&WaiterIndex> = waiters.iter().filter(is_owner).collect();
        if waiters.is_empty() || owner == 0 {
            return;
        }
        let mut bits = [0; WAITER_WORDS];
        waiters.iter().for_each(|waiter| bits[waiter.0 / 64] |= 1 << (waiter.0 % 64));
        #[cfg(test)]
        self.withdrawals.fetch_add(1, Relaxed);
        for line in self.used_lines() {
            let sets = [&line.sleepers, &line.readers_watchers, &line.publishers_watchers];
            // Only the few words in which one of these bits is set are written.
            let words = sets.into_iter().flat_map(|set| set.iter().zip(bits));
            words.filter(|(waiters, bits)| waiters.load(Relaxed) & bits != 0).for_each(|(waiters, bits)| {
                waiters.fetch_and(!bits, Relaxed);
            });
        }
        crash::point(Point::WaitersWithdrawn);
        full_fence(Site::ReleaseLineFence);
        self.sweep_topics();
        waiters.into_iter().for_each(|&waiter| self.free_waiter(waiter, owner));
    }
}

impl Registry<'_> {
    /// Frees all waiter lines of a process that is dead, or leaves.
    pub(crate) fn free_waiters_of(&self, owner: u64) {
        self.board.free(&self.board.waiters_of(owner), owner);
    }
}

impl Drop for Registry<'_> {
    fn drop(&mut self) {
        crash::point(Point::RegistryUnlocks);
        // Unlocking cannot fail on an open descriptor. If it failed, closing the board would unlock it.
        let _ = self.board.region.file().map(lock::unlock);
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn a_process_that_takes_the_lock_again_and_again_is_not_stuck() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let directory = Directory::make_for_user(root.path()).unwrap();
        let open = || Board::open_or_create(&directory, REGISTRY_PATIENCE).unwrap().unwrap();
        let (holder, waiting) = (open(), open());
        let patience = Duration::from_millis(200);
        let registry = holder.lock(&directory, patience).unwrap();
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| waiting.lock(&directory, patience).map(drop));
            let start = Instant::now();
            // The test raises the number of acquisitions, as if the lock were free now and then and the waiting
            // thread always missed this.
            while start.elapsed() < 4 * patience {
                holder.header.acquisitions.fetch_add(1, Relaxed);
                std::thread::yield_now();
            }
            drop(registry);
            waits.join().unwrap().unwrap();
        });
        let _registry = holder.lock(&directory, patience).unwrap();
        let error = waiting.lock(&directory, patience).map(drop).unwrap_err();
        assert!(matches!(error, Error::RegistryBusy { pid, .. } if pid == std::process::id()), "{error}");
    }
}
