//! A wait set: one thread waits for several subscriptions at the same time.

use crate::{
    domain::participant::Participant,
    error::Result,
    subscribe::subscription::Subscription,
    wait::{bell::Bell, waiter::Waiter},
};
use std::{sync::Arc, time::Duration};

/// A wait for several subscriptions at the same time. The wait spins for a bounded time (not at all where only one
/// CPU is usable), then sleeps by one futex call, for any number of topics.
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
    /// Creates a wait set, for one thread.
    #[must_use]
    pub fn new(participant: &Arc<Participant>) -> WaitSet {
        WaitSet { waiter: Waiter::new(participant.domain.clone()) }
    }

    /// Waits until one of `subscriptions` has something to take; `false` if there was nothing within `timeout`.
    ///
    /// # Errors
    /// The errors of [`Subscription::take`]; a subscription belongs to another domain.
    pub fn wait(&mut self, subscriptions: &mut [&mut Subscription], timeout: Duration) -> Result<bool> {
        self.wait_or(subscriptions, timeout, |_| false)
    }

    /// Waits like [`WaitSet::wait`], but also ends when `look` returns `true`. `look` is called again when the
    /// [`WaitSet::bell`] rings, or publishers came or went.
    ///
    /// # Errors
    /// The errors of [`WaitSet::wait`].
    pub fn wait_or(
        &mut self,
        subscriptions: &mut [&mut Subscription],
        timeout: Duration,
        look: impl FnMut(&[&mut Subscription]) -> bool,
    ) -> Result<bool> {
        Subscription::wait_with(&mut self.waiter, subscriptions, timeout, look)
    }

    /// The bell by which any thread of this process wakes the wait set.
    ///
    /// # Errors
    /// The process forked.
    pub fn bell(&mut self) -> Result<Bell> {
        self.waiter.domain.epoch.check()?;
        let index = self.waiter.index();
        Ok(Bell::new(&self.waiter.domain, index))
    }
}
