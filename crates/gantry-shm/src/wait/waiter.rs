//! The wait of a thread for news on any number of topics: a bounded spin, then a sleep on one futex, which is the
//! thread's own bell.
//!
//! Waiting makes system calls. No wake-up is lost (pair 3 of `protocol`). If a publisher is killed between the store
//! of an entry and the ring, its readers are rung when its death is noticed (`control`). A sleep is cut into slices,
//! which bound the delay if the board is damaged. The slices grow, so that a long sleep costs nothing.

use crate::{
    domain::{Domain, process_file::waiter_owner},
    os::spin::Spin,
    protocol::{
        layout::WaiterLine,
        sleep::{self, WaiterIndex, Waiters},
    },
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// The longest slice of a waiter's sleep if the waiter was rung in its last sleep.
const MIN_SLICE: Duration = Duration::from_secs(1);
/// The longest slice of a waiter's sleep.
const MAX_SLICE: Duration = Duration::from_secs(16);

/// The waits of one thread.
pub(crate) struct Waiter {
    pub(crate) domain: Arc<Domain>,
    /// The waiter's line on the board, which the first sleep takes.
    line: Option<OwnedLine>,
    pause: Pause,
}

/// A waiter line of the board that this process has taken; the drop frees the line.
pub(crate) struct OwnedLine {
    pub(crate) domain: Arc<Domain>,
    pub(crate) index: WaiterIndex,
}

/// The adaptive limits of one thread's sleeps: its spin and its slice.
pub(crate) struct Pause {
    spin: Spin,
    /// The longest sleep at present; the value doubles after a sleep without a ring.
    slice: Duration,
}

impl Waiter {
    pub(crate) fn new(domain: Arc<Domain>) -> Waiter {
        Waiter { domain, line: None, pause: Pause::new() }
    }

    /// Chooses whether the waiter spins before it sleeps.
    pub(crate) fn set_busy_wait(&mut self, on: bool) {
        self.pause.spin.set(on);
    }

    /// Waits until `is_ready`, the deadline, or the end of a slice; the caller then checks which of these ended the
    /// wait. A `deadline` of `None` is no limit.
    pub(crate) fn sleep_once<'a>(
        &mut self,
        deadline: Option<Instant>,
        sets: impl Iterator<Item = &'a Waiters> + Clone,
        mut is_ready: impl FnMut() -> bool,
    ) {
        let Some(limit) = self.pause.begin(deadline, &mut is_ready) else { return };
        let index = self.index();
        let bell = self.domain.board.bell(index);
        let rings = bell.rings(); // before the last check
        sleep::sleep(bell, rings, index, sets, limit, is_ready);
        self.pause.end(bell.rings() != rings);
    }

    /// The waiter's line on the board.
    pub(crate) fn index(&mut self) -> WaiterIndex {
        self.line.get_or_insert_with(|| OwnedLine::take(self.domain.clone())).index
    }

    /// Frees the waiter's line until the next sleep.
    pub(crate) fn release(&mut self) {
        self.line = None;
    }
}

impl OwnedLine {
    /// Takes a free waiter line, or the shared line if none is free.
    pub(crate) fn take(domain: Arc<Domain>) -> OwnedLine {
        let index = domain.board.take_waiter(waiter_owner(domain.process.id()));
        OwnedLine { domain, index }
    }

    pub(crate) fn words(&self) -> &WaiterLine {
        self.domain.board.waiter(self.index)
    }
}

impl Drop for OwnedLine {
    fn drop(&mut self) {
        if self.domain.epoch.is_current() {
            self.domain.board.free_waiter(self.index, waiter_owner(self.domain.process.id()));
        }
    }
}

impl Pause {
    pub(crate) fn new() -> Pause {
        Pause { spin: Spin::new(), slice: MIN_SLICE }
    }

    /// Spins, and returns the time to sleep afterwards; `None` if `is_ready` returned `true` or the deadline is over.
    pub(crate) fn begin(&mut self, deadline: Option<Instant>, is_ready: &mut impl FnMut() -> bool) -> Option<Duration> {
        if is_ready() || self.spin.until(is_ready) {
            self.slice = MIN_SLICE;
            return None;
        }
        let remaining = deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()));
        (!remaining.is_zero()).then(|| remaining.min(self.slice))
    }

    /// Adapts the next slice: short after a sleep that a ring ended (`was_rung`), twice as long after any other sleep.
    pub(crate) fn end(&mut self, was_rung: bool) {
        self.slice = if was_rung { MIN_SLICE } else { (self.slice * 2).min(MAX_SLICE) };
    }
}

impl std::fmt::Debug for Waiter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let index = self.line.as_ref().map(|line| line.index);
        write!(f, "Waiter({}, {index:?})", self.domain.directory)
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
            assert!(slept == 0 || waiter.pause.slice > MIN_SLICE);
            // The deadline is later than the end of the spin, also on a slow machine; otherwise the waiter would
            // not sleep.
            let soon = Some(Instant::now() + Duration::from_millis(10));
            waiter.sleep_once(soon, std::iter::empty(), || false);
        }
        assert_eq!(waiter.pause.slice, MAX_SLICE);
        waiter.sleep_once(None, std::iter::empty(), || true);
        assert_eq!(waiter.pause.slice, MIN_SLICE);
    }
}
