//! Executors run the callbacks of nodes; a wait set waits without callbacks.
//!
//! All executors share the ready queue; `single`, `events` and `multi` are the orders in which callbacks run, a step at
//! a time (`steps`). An idle executor sleeps in one futex, independent of the number of topics.

mod events;
mod multi;
mod ready_queue;
mod registered_callback;
mod single;
mod steps;
#[cfg(test)]
mod tests;
mod wait_set;
mod wake_signal;

pub use events::{EventsExecutor, Overflow};
pub use multi::MultiThreadedExecutor;
pub use single::SingleThreadedExecutor;
pub use wait_set::WaitSet;

use crate::{error::Result, node::Node};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use steps::ExecutorSteps;
use wake_signal::WakeSignal;

/// Runs the callbacks of nodes of one domain. A node is in one executor at a time. The trait is sealed: only this crate
/// implements it.
///
/// # Real-time
/// Executors lock each callback, allocate and make system calls between callbacks. A real-time loop takes and publishes
/// itself.
pub trait Executor: ExecutorSteps {
    /// Adds a node: the executor runs its callbacks, including those that are added later.
    ///
    /// # Errors
    /// The node is in an executor already, or of another domain than this executor's nodes; no waiter could be set up.
    fn add_node(&mut self, node: &Node) -> Result<()> {
        self.ready_queue().add_node(node)
    }

    /// Removes a node; does nothing if the node is not in this executor.
    fn remove_node(&mut self, node: &Node) {
        self.ready_queue().remove_node(node);
    }

    /// Runs callbacks until a cancel or a shutdown ([`shutdown`](crate::shutdown); a spin after it returns at once). An
    /// error of a single callback's source is logged, and the source is tried again. A panic in a callback of any
    /// thread ends the spin with that panic; the executor can spin again.
    ///
    /// # Errors
    /// The executor has no node; the process forked.
    fn spin(&mut self) -> Result<()> {
        self.spin_while(None, &mut || true)
    }

    /// Waits until a callback may run, and runs one; `false` after `timeout` or a cancel.
    ///
    /// # Errors
    /// As [`Executor::spin`].
    fn spin_once(&mut self, timeout: Duration) -> Result<bool> {
        let deadline = Instant::now().checked_add(timeout);
        self.ready_queue().check()?;
        loop {
            self.gather();
            if self.ready_queue().signal.is_canceled() {
                self.ready_queue().signal.reset_cancel();
                return Ok(false);
            }
            if self.step() {
                self.ready_queue().signal.reset_cancel(); // a cancel by the callback, or during its run
                return Ok(true);
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(false);
            }
            self.ready_queue().sleep(deadline)?;
        }
    }

    /// Runs the callbacks that have something now, without waiting, and returns the number of runs. The limit
    /// `max_duration` (0: none) is checked between two callbacks. A callback runs once even if its source has more (in
    /// an [`EventsExecutor`] that drops, once for each event); news that comes meanwhile is left for the next call.
    ///
    /// # Errors
    /// As [`Executor::spin`].
    fn spin_some(&mut self, max_duration: Duration) -> Result<usize> {
        let deadline = (!max_duration.is_zero()).then(|| Instant::now().checked_add(max_duration)).flatten();
        self.ready_queue().check()?;
        self.gather();
        let mut ran = 0;
        while !self.ready_queue().signal.is_canceled() && self.step() {
            ran += 1;
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                break;
            }
        }
        self.ready_queue().signal.reset_cancel();
        Ok(ran)
    }

    /// Runs callbacks until `condition` holds, which is checked before each wait and after each callback; `false` after
    /// `timeout` or a cancel.
    ///
    /// # Errors
    /// As [`Executor::spin`].
    fn spin_until(&mut self, timeout: Duration, condition: &mut dyn FnMut() -> bool) -> Result<bool> {
        let deadline = Instant::now().checked_add(timeout);
        let mut holds = false;
        self.spin_while(deadline, &mut || {
            holds = condition();
            !holds
        })?;
        Ok(holds)
    }

    /// A handle that cancels a spin from another thread or from a callback.
    fn canceler(&mut self) -> Canceler {
        Canceler(self.ready_queue().signal.clone())
    }
}

/// Ends the spin of an executor.
#[derive(Clone, Debug)]
pub struct Canceler(Arc<WakeSignal>);

impl Canceler {
    /// Ends the current spin after the callback that runs now, or else the next spin before it begins.
    ///
    /// # Real-time
    /// No allocation; one lock, which is held for some nanoseconds, and at most one system call. A signal handler must
    /// not call it: see [`init`](crate::init).
    pub fn cancel(&self) {
        self.0.cancel();
    }
}
