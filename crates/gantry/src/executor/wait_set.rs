//! A wait set, in which a thread waits for several sources without an executor.

use super::wake_signal::WakeSignal;
use crate::{
    context,
    error::Result,
    node::Node,
    time::{monotonic_ns, remaining},
    wait::Waitable,
};
use std::{
    sync::Arc,
    task::Waker,
    time::{Duration, Instant},
};

/// Waits for several subscriptions, timers, services, clients and events at the same time. A wait set belongs to one
/// thread at a time.
///
/// ```no_run
/// # use gantry::{Node, Qos, WaitSet, gantry_cdr::Message};
/// # use std::time::Duration;
/// # fn example<A: Message, B: Message>(node: &Node) -> gantry::Result<()> {
/// let mut scans = node.create_subscription::<A>("scan", Qos::default())?;
/// let mut images = node.create_subscription::<B>("image", Qos::default())?;
/// let mut timer = node.create_timer(Duration::from_millis(100))?;
/// let mut wait_set = WaitSet::new(node)?;
/// while wait_set.wait(&mut [&mut scans, &mut images, &mut timer], Duration::from_secs(1))? {
///     while let Some(scan) = scans.take()? { /* … */ }
///     while let Some(image) = images.take()? { /* … */ }
///     if let Some(tick) = timer.take() { /* … */ }
/// }
/// # Ok(()) }
/// ```
///
/// # Real-time
/// Each wait allocates, and may sleep.
#[derive(Debug)]
pub struct WaitSet {
    engine: gantry_shm::WaitSet,
    /// The signal for news that is neither a sample nor a due time, such as a guard condition.
    signal: Arc<WakeSignal>,
}

impl WaitSet {
    /// Makes a wait set for one thread and for sources of the node's domain.
    ///
    /// # Errors
    /// Another process held the domain's registry lock too long; the process forked.
    pub fn new(node: &Node) -> Result<WaitSet> {
        let mut engine = gantry_shm::WaitSet::new(node.participant());
        let signal = Arc::<WakeSignal>::default();
        signal.set_bell(Some(engine.bell()?));
        Ok(WaitSet { engine, signal })
    }

    /// Waits until one of `waitables` has something to take. Returns `false` after `timeout` or a shutdown. The result
    /// does not identify the waitable: take from each of them until it has no value. The wait polls for a bounded time
    /// (not if only one CPU is usable), then sleeps on one futex.
    ///
    /// # Errors
    /// The errors of a take from the waitables; a waitable is in another domain.
    pub fn wait(&mut self, waitables: &mut [&mut dyn Waitable], timeout: Duration) -> Result<bool> {
        let deadline = Instant::now().checked_add(timeout);
        let waker: Waker = self.signal.clone().into();
        waitables.iter_mut().for_each(|waitable| waitable.set_waker(Some(waker.clone())));
        let waited = self.wait_until(waitables, deadline);
        waitables.iter_mut().for_each(|waitable| waitable.set_waker(None));
        waited
    }

    fn wait_until(&mut self, waitables: &mut [&mut dyn Waitable], deadline: Option<Instant>) -> Result<bool> {
        loop {
            self.signal.take_notified();
            // `due_ns` is called for all waitables, because it also registers the waker with a manual clock.
            let due_ns = waitables.iter_mut().filter_map(|waitable| waitable.due_ns()).min();
            for waitable in waitables.iter_mut() {
                if waitable.is_ready()? {
                    return Ok(true);
                }
            }
            let until_due =
                due_ns.map_or(Duration::MAX, |due_ns| Duration::from_nanos(due_ns.saturating_sub(monotonic_ns())));
            let remaining = remaining(deadline);
            if remaining.is_zero() || context::is_shut_down() {
                return Ok(false);
            }
            let mut subscriptions: Vec<_> =
                waitables.iter_mut().filter_map(|waitable| waitable.subscription()).collect();
            let publishers = |subscriptions: &[&mut gantry_shm::Subscription]| {
                subscriptions.iter().map(|subscription| subscription.publishers_version()).sum::<u64>()
            };
            let (signal, before) = (&self.signal, publishers(&subscriptions));
            self.engine.wait_or(&mut subscriptions, until_due.min(remaining), |subscriptions| {
                // A client also becomes ready when its servers are gone, although no sample arrives. So a change of the
                // publishers also ends the wait.
                signal.should_wake() || publishers(subscriptions) != before
            })?;
        }
    }
}
