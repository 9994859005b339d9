//! The registry lock of a domain: a process holds it while it joins, leaves, reaps, and takes or frees waiter lines.
//!
//! It is an OFD lock on the board itself, so that it ends with its holder. A process that joins or removes under it checks that
//! the board still has its name (B2).

use crate::{
    crash::{self, Point},
    domain::board::{Board, wait_for_lock},
    error::{Error, Result},
    os::{directory::Directory, lock},
    protocol::{
        layout::{WAITER_LINES, WAITER_PLAIN, WAITER_WORDS},
        sleep::{SHARED_WAITER, WaiterIndex},
        sync::Ordering::{Relaxed, Release},
    },
};
use std::{
    sync::{MutexGuard, PoisonError},
    time::Duration,
};

/// How long a process waits for the registry lock before it returns an error that names the holder.
pub(crate) const REGISTRY_PATIENCE: Duration = Duration::from_secs(5);

/// The same for a handle that is dropped, which has no error to return.
pub(crate) const DROP_PATIENCE: Duration = Duration::from_millis(500);

/// The registry lock, held: no other process joins, leaves or reaps meanwhile.
pub(crate) struct Registry<'a> {
    board: &'a Board,
    _threads: MutexGuard<'a, ()>,
}

impl Board {
    /// Takes the registry lock; waits for it up to `patience`.
    pub(crate) fn lock(&self, directory: &Directory, patience: Duration) -> Result<Registry<'_>> {
        let threads = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        if wait_for_lock(self.region.file()?, directory, patience)? {
            return Ok(self.locked(threads));
        }
        let (directory, pid) = (directory.path().to_owned(), self.header.holder_pid.load(Relaxed));
        Err(Error::RegistryBusy { directory, pid, waited_ms: patience.as_millis() as u64 })
    }

    /// Takes the registry lock if it is free.
    pub(crate) fn try_lock(&self, directory: &Directory) -> Result<Option<Registry<'_>>> {
        let Ok(threads) = self.registry.try_lock() else { return Ok(None) };
        Ok(wait_for_lock(self.region.file()?, directory, Duration::ZERO)?.then(|| self.locked(threads)))
    }

    fn locked<'a>(&'a self, threads: MutexGuard<'a, ()>) -> Registry<'a> {
        let registry = Registry { board: self, _threads: threads };
        crash::point(Point::RegistryLocked);
        self.header.holder_pid.store(std::process::id(), Relaxed);
        registry
    }
}

impl Registry<'_> {
    /// A waiter's line for the process with that half of an id; the shared one if all are taken.
    pub(crate) fn take_waiter(&self, owner: u64) -> WaiterIndex {
        let lines = &self.board.waiters[..WAITER_LINES - 1];
        // Relaxed: the registry lock orders its holders. A process takes its first line when its file has its name.
        let Some(free) = lines.iter().position(|line| line.owner.load(Relaxed) == 0) else { return SHARED_WAITER };
        lines[free].owner.store(owner, Release); // partner: `Board::waiter_owners`
        lines[free].state.store(WAITER_PLAIN, Relaxed); // its last owner may have died asleep
        crash::point(Point::WaiterTaken);
        WaiterIndex(free)
    }

    /// Frees a waiter's line; the shared one stays.
    pub(crate) fn free_waiter(&self, waiter: WaiterIndex) {
        if waiter != SHARED_WAITER {
            self.free(&[waiter]);
        }
    }

    /// Frees all waiter lines of a process.
    pub(crate) fn free_waiters_of(&self, owner: u64) {
        self.free(&self.board.waiters_of(owner));
    }

    /// Removes the lines from the sets of every topic first: their next owners wait for nothing yet.
    fn free(&self, waiters: &[WaiterIndex]) {
        if waiters.is_empty() {
            return;
        }
        let mut bits = [0; WAITER_WORDS];
        waiters.iter().for_each(|waiter| bits[waiter.0 / 64] |= 1 << (waiter.0 % 64));
        for line in self.board.topics.iter().filter(|line| line.name_hash.load(Relaxed) != 0) {
            let sets = [&line.sleepers, &line.readers_watchers, &line.publishers_watchers];
            for (waiters, bits) in sets.into_iter().flat_map(|set| set.iter().zip(bits)) {
                waiters.fetch_and(!bits, Relaxed);
            }
        }
        crash::point(Point::WaitersWithdrawn);
        for waiter in waiters {
            self.board.waiters[waiter.0].owner.store(0, Relaxed);
            crash::point(Point::WaiterFreed);
        }
    }
}

impl Drop for Registry<'_> {
    fn drop(&mut self) {
        crash::point(Point::RegistryUnlocks);
        // Cannot fail on a descriptor that is open; if it did, closing the board would unlock.
        let _ = self.board.region.file().map(lock::unlock);
    }
}
