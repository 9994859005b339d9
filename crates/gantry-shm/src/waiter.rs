//! How a thread waits for news on any number of topics: a bounded spin, then one futex, its own bell.
//!
//! Used by programs (for several subscriptions), by subscriptions (for one) and by publishers (for subscriptions, or for room).
//! Waiting makes system calls; its first sleep takes the registry lock. No wake-up is lost (`protocol`, 3). A slice of a
//! second bounds what a publisher that was killed between entry and ring left unsaid.

use crate::{
    board::REGISTRY_PATIENCE,
    domain::Domain,
    error::{Error, Result},
    layout::TopicLine,
    participant::Participant,
    protocol::sleep::{self, WaiterIndex},
    subscription::Subscription,
};
use std::{
    ops::Deref,
    sync::Arc,
    time::{Duration, Instant},
};

/// Longest spin before a sleep.
const MAX_SPIN: Duration = Duration::from_micros(20);
/// Shortest spin: what a waiter whose spins never helped still tries.
const MIN_SPIN: Duration = Duration::from_nanos(250);
/// Longest sleep.
const SLICE: Duration = Duration::from_secs(1);
/// Looks between two readings of the clock.
const LOOKS_PER_CLOCK: usize = 8;

/// Waits for several subscriptions at once.
///
/// ```no_run
/// # fn example(a: &mut gantry_shm::Subscription, b: &mut gantry_shm::Subscription,
/// #     participant: &std::sync::Arc<gantry_shm::Participant>) -> gantry_shm::Result<()> {
/// let mut wait_set = gantry_shm::WaitSet::new(participant);
/// while wait_set.wait(&mut [a, b], std::time::Duration::from_secs(1))? {
///     // take from each
/// }
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct WaitSet {
    waiter: Waiter,
}

impl WaitSet {
    /// A way to wait, for one thread.
    #[must_use]
    pub fn new(participant: &Arc<Participant>) -> WaitSet {
        WaitSet { waiter: Waiter::new(participant.domain.clone()) }
    }

    /// Waits until one of `subscriptions` has something to take; `false` if none had within `timeout`. A bounded spin (none where
    /// only one CPU is usable), then one futex, whatever the number of topics.
    ///
    /// # Errors
    /// As [`Subscription::take`]; a subscription is of another domain; no waiter could be set up.
    pub fn wait(&mut self, subscriptions: &mut [&mut Subscription], timeout: Duration) -> Result<bool> {
        self.waiter.wait(subscriptions, timeout)
    }
}

/// A thread's way to wait.
pub(crate) struct Waiter {
    domain: Arc<Domain>,
    /// Taken at the first sleep.
    index: Option<WaiterIndex>,
    /// `None`: only one CPU is usable, spinning would keep the other side from running.
    spin: Option<Duration>,
}

impl Waiter {
    pub(crate) fn new(domain: Arc<Domain>) -> Waiter {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        Waiter { domain, index: None, spin: (cpus > 1).then_some(MAX_SPIN) }
    }

    /// What [`WaitSet::wait`] says.
    pub(crate) fn wait(&mut self, subscriptions: &mut [&mut Subscription], timeout: Duration) -> Result<bool> {
        self.domain.epoch.check()?;
        // On another board our bell is another's.
        subscriptions.iter().try_for_each(|subscription| subscription.check_waiter(&self.domain))?;
        let deadline = Instant::now().checked_add(timeout);
        loop {
            for subscription in subscriptions.iter_mut() {
                if subscription.generation_changed() {
                    subscription.discover();
                }
            }
            if subscriptions.iter().any(|subscription| subscription.has_news()) {
                return Ok(true);
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(false);
            }
            let waited: &[&mut Subscription] = subscriptions;
            let lines = waited.iter().map(|subscription| subscription.line());
            self.sleep_once(deadline, lines, || {
                waited.iter().any(|subscription| subscription.has_news() || subscription.generation_changed())
            })?;
        }
    }

    /// Waits until `look` says that there is something, the time is over, or a slice of sleep ended; the caller looks
    /// for itself what it was. `deadline` is `None` for no limit.
    pub(crate) fn sleep_once<T: Deref<Target = TopicLine>>(
        &mut self,
        deadline: Option<Instant>,
        topics: impl Iterator<Item = T> + Clone,
        mut look: impl FnMut() -> bool,
    ) -> Result<()> {
        if look() || self.spin(&mut look) {
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
        let bell = self.domain.board.bell(index);
        let rings = bell.rings(); // before the last look
        sleep::sleep(bell, rings, index, topics, remaining.min(SLICE), look);
        Ok(())
    }

    /// The waiter's line on the board.
    pub(crate) fn index(&mut self, patience: Duration) -> Result<WaiterIndex> {
        match self.index {
            Some(index) => Ok(index),
            None => Ok(*self.index.insert(self.domain.take_waiter(patience)?)),
        }
    }

    /// Spins as long as spinning has been worth it: the bound doubles when it helps and halves when it does not.
    fn spin(&mut self, look: &mut impl FnMut() -> bool) -> bool {
        let Some(bound) = self.spin else { return false };
        let end = Instant::now() + bound;
        loop {
            for _ in 0..LOOKS_PER_CLOCK {
                if look() {
                    self.spin = Some((bound * 2).min(MAX_SPIN));
                    return true;
                }
                std::hint::spin_loop();
            }
            if Instant::now() >= end {
                self.spin = Some((bound / 2).max(MIN_SPIN));
                return false;
            }
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
        if let (Some(index), true) = (self.index, self.domain.epoch.is_current()) {
            self.domain.free_waiter(index);
        }
    }
}
