//! The wait of a thread for news on any number of topics: a bounded spin, then a sleep on one futex, the thread's own bell.
//!
//! Waiting makes system calls. No wake-up is lost (`protocol`, 3). If a publisher is
//! killed between entry and ring, its readers are rung when its death is noticed (`control`). A sleep is cut into slices, which
//! bound the cost of damage to the board; they grow, so that a long sleep costs nothing.

use crate::{
    domain::{Domain, board::Board, process_file::waiter_owner},
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

/// Longest slice of a waiter that was rung in its last sleep.
const MIN_SLICE: Duration = Duration::from_secs(1);
/// Longest slice of all.
const MAX_SLICE: Duration = Duration::from_secs(16);

/// Waits for one thread.
pub(crate) struct Waiter {
    pub(crate) domain: Arc<Domain>,
    /// Taken at the first sleep.
    index: Option<WaiterIndex>,
    spin: Spin,
    /// Longest sleep now; doubles after a sleep without a ring.
    slice: Duration,
}

impl Waiter {
    pub(crate) fn new(domain: Arc<Domain>) -> Waiter {
        Waiter { domain, index: None, spin: Spin::new(), slice: MIN_SLICE }
    }

    /// Chooses whether it spins before it sleeps.
    pub(crate) fn set_busy_wait(&mut self, on: bool) {
        self.spin.set(on);
    }

    /// Waits until `is_ready`, the deadline, or the end of a slice; the caller then checks which it was. A `deadline` of `None` is
    /// no limit.
    pub(crate) fn sleep_once<'a>(
        &mut self,
        deadline: Option<Instant>,
        sets: impl Iterator<Item = &'a Waiters> + Clone,
        is_ready: impl FnMut() -> bool,
    ) {
        self.sleep_slice(deadline, is_ready, |board, index, limit, is_ready| {
            let bell = board.bell(index);
            let rings = bell.rings(); // before the last check
            sleep::sleep(bell, rings, index, sets, limit, is_ready);
        })
    }

    /// The same for a collector, which is among the sleepers of its topics already.
    pub(crate) fn collect_once(&mut self, deadline: Option<Instant>, is_ready: impl FnMut() -> bool) {
        self.sleep_slice(deadline, is_ready, |board, index, limit, is_ready| {
            collect::sleep(board.waiter(index), limit, is_ready);
        });
    }

    fn sleep_slice<P: FnMut() -> bool>(
        &mut self,
        deadline: Option<Instant>,
        mut is_ready: P,
        sleep: impl FnOnce(&Board, WaiterIndex, Duration, &mut P),
    ) {
        if is_ready() || self.spin.until(&mut is_ready) {
            self.slice = MIN_SLICE;
            return;
        }
        let remaining = deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()));
        if remaining.is_zero() {
            return;
        }
        let index = self.index();
        let (board, rings_before) = (&self.domain.board, self.domain.board.bell(index).rings());
        sleep(board, index, remaining.min(self.slice), &mut is_ready);
        let in_vain = board.bell(index).rings() == rings_before;
        self.slice = if in_vain { (self.slice * 2).min(MAX_SLICE) } else { MIN_SLICE };
    }

    /// The waiter's line on the board.
    pub(crate) fn index(&mut self) -> WaiterIndex {
        let Domain { board, process, .. } = &*self.domain;
        *self.index.get_or_insert_with(|| board.take_waiter(waiter_owner(process.id())))
    }

    /// Frees the line until the next sleep.
    pub(crate) fn release(&mut self) {
        if let Some(index) = self.index.take()
            && self.domain.epoch.is_current()
        {
            self.domain.board.free_waiter(index, waiter_owner(self.domain.process.id()));
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
    fn without_busy_wait_it_checks_once_before_it_sleeps() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let mut waiter = Waiter::new(Arc::new(Domain::join(root.path(), 0).unwrap()));
        let mut checks_when = |on| {
            let mut checks = 0;
            waiter.set_busy_wait(on);
            let over = Some(Instant::now());
            waiter.sleep_once(over, std::iter::empty(), || {
                checks += 1;
                false
            });
            checks
        };
        assert_eq!(checks_when(false), 1);
        let several = std::thread::available_parallelism().unwrap().get() > 1;
        assert_eq!(checks_when(true) > 1, several);
    }

    #[test]
    fn sleeps_adapt_and_are_bounded() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let mut waiter = Waiter::new(Arc::new(Domain::join(root.path(), 0).unwrap()));
        for slept in 0..20 {
            assert!(slept == 0 || waiter.slice > MIN_SLICE);
            // Longer than the spin before it, on a slow machine, too: after the deadline there is no sleep.
            let soon = Some(Instant::now() + Duration::from_millis(10));
            waiter.sleep_once(soon, std::iter::empty(), || false);
        }
        assert_eq!(waiter.slice, MAX_SLICE);
        waiter.sleep_once(None, std::iter::empty(), || true);
        assert_eq!(waiter.slice, MIN_SLICE);
    }
}
