//! How a thread waits for news on any number of topics: a bounded spin, then one futex, its own bell.
//!
//! Used by programs (for several subscriptions), by subscriptions (for one) and by publishers (for subscriptions, or for room).
//! Waiting makes system calls; its first sleep takes the registry lock. No wake-up is lost (`protocol`, 3). What a publisher
//! that was killed between entry and ring left unsaid is rung when its death is noticed (`control`); slices of sleep bound
//! what damage to the board may cost, and grow, so that who sleeps long costs nothing.

use crate::{
    domain::{Domain, board::Board, registry::REGISTRY_PATIENCE},
    error::{Error, Result},
    os::spin::Spin,
    protocol::{
        collect,
        sleep::{self, WaiterIndex, Waiters},
    },
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// Longest sleep of a waiter that had something to do lately.
const MIN_SLICE: Duration = Duration::from_secs(1);
/// Longest sleep of all.
const MAX_SLICE: Duration = Duration::from_secs(16);

/// A thread's way to wait.
pub(crate) struct Waiter {
    pub(crate) domain: Arc<Domain>,
    /// Taken at the first sleep.
    index: Option<WaiterIndex>,
    spin: Spin,
    /// Longest sleep now: doubles when it was slept in vain.
    slice: Duration,
}

impl Waiter {
    pub(crate) fn new(domain: Arc<Domain>) -> Waiter {
        Waiter { domain, index: None, spin: Spin::new(), slice: MIN_SLICE }
    }

    /// Whether it spins before it sleeps.
    pub(crate) fn set_busy_wait(&mut self, on: bool) {
        self.spin.set(on);
    }

    /// Waits until `look` says that there is something, the time is over, or a slice of sleep ended; the caller looks
    /// for itself what it was. `deadline` is `None` for no limit.
    pub(crate) fn sleep_once<'a>(
        &mut self,
        deadline: Option<Instant>,
        sets: impl Iterator<Item = &'a Waiters> + Clone,
        look: impl FnMut() -> bool,
    ) -> Result<()> {
        self.rest(deadline, look, |board, index, limit, look| {
            let bell = board.bell(index);
            let rings = bell.rings(); // before the last look
            sleep::sleep(bell, rings, index, sets, limit, look);
        })
    }

    /// The same for a waiter that collects, which is announced already.
    pub(crate) fn collect_once(&mut self, deadline: Option<Instant>, look: impl FnMut() -> bool) -> Result<()> {
        self.rest(deadline, look, |board, index, limit, look| collect::sleep(board.waiter(index), limit, look))
    }

    fn rest<L: FnMut() -> bool>(
        &mut self,
        deadline: Option<Instant>,
        mut look: L,
        sleep: impl FnOnce(&Board, WaiterIndex, Duration, &mut L),
    ) -> Result<()> {
        if look() || self.spin.finds(&mut look) {
            self.slice = MIN_SLICE;
            return Ok(());
        }
        let remaining = deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()));
        if remaining.is_zero() {
            return Ok(());
        }
        let index = match self.index(remaining.min(REGISTRY_PATIENCE)) {
            Ok(index) => index,
            // The time is over before we could sleep.
            Err(Error::RegistryBusy { .. }) if remaining < REGISTRY_PATIENCE => return Ok(()),
            Err(e) => return Err(e),
        };
        let (board, rings) = (&self.domain.board, self.domain.board.bell(index).rings());
        sleep(board, index, remaining.min(self.slice), &mut look);
        let in_vain = board.bell(index).rings() == rings;
        self.slice = if in_vain { (self.slice * 2).min(MAX_SLICE) } else { MIN_SLICE };
        Ok(())
    }

    /// The waiter's line on the board.
    pub(crate) fn index(&mut self, patience: Duration) -> Result<WaiterIndex> {
        match self.index {
            Some(index) => Ok(index),
            None => Ok(*self.index.insert(self.domain.take_waiter(patience)?)),
        }
    }

    /// Gives the line back until the next sleep. Takes the registry lock if it slept.
    pub(crate) fn release(&mut self) {
        if let Some(index) = self.index.take()
            && self.domain.epoch.is_current()
        {
            self.domain.free_waiter(index);
        }
    }
}

impl std::fmt::Debug for Waiter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Waiter({}, {:?})", self.domain.directory, self.index)
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_told_not_to_spin_looks_once_before_it_sleeps() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let mut waiter = Waiter::new(Arc::new(Domain::join(root.path(), 0).unwrap()));
        let mut looks_when = |on| {
            let mut looks = 0;
            waiter.set_busy_wait(on);
            let over = Some(Instant::now());
            waiter.sleep_once(over, std::iter::empty(), || {
                looks += 1;
                false
            })?;
            Ok::<_, Error>(looks)
        };
        assert_eq!(looks_when(false).unwrap(), 1);
        let several = std::thread::available_parallelism().unwrap().get() > 1;
        assert_eq!(looks_when(true).unwrap() > 1, several);
    }

    #[test]
    fn sleeps_adapt_and_are_bounded() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let mut waiter = Waiter::new(Arc::new(Domain::join(root.path(), 0).unwrap()));
        for slept in 0..20 {
            assert!(slept == 0 || waiter.slice > MIN_SLICE);
            // Beyond the spin before it, on a slow machine, too: a time that is over is not slept.
            let soon = Some(Instant::now() + Duration::from_millis(10));
            waiter.sleep_once(soon, std::iter::empty(), || false).unwrap();
        }
        assert_eq!(waiter.slice, MAX_SLICE);
        waiter.sleep_once(None, std::iter::empty(), || true).unwrap();
        assert_eq!(waiter.slice, MIN_SLICE);
    }
}
