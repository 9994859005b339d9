//! Executors: they wait for what the callbacks of nodes wait for, and run them.
//!
//! `turn` is what all have in common (who has news, when is the next due, sleeping), `single`, `events` and `multi` are the orders in
//! which callbacks run, a step at a time (`steps`). An idle executor sleeps in one futex, whatever the number of topics.

mod events;
mod multi;
mod ready_queue;
mod registered_callback;
mod single;
mod steps;
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
use steps::Steps;
use wake_signal::Told;

/// What runs the callbacks of nodes of one domain. A node is in one executor at a time.
///
/// # Real-time
/// Callbacks are run between locks, allocations and system calls of the executor's own: not for real-time threads.
pub trait Executor: Steps {
    /// Runs the callbacks of `node` from now on, those too that are added later.
    ///
    /// # Errors
    /// It is in an executor; it is of another domain than the nodes that are here; no waiter could be set up.
    fn add_node(&mut self, node: &Node) -> Result<()> {
        self.turn().add_node(node)
    }

    /// Leaves the callbacks of `node` alone from now on; nothing happens if it is not here.
    fn remove_node(&mut self, node: &Node) {
        self.turn().remove_node(node);
    }

    /// Runs callbacks until it is canceled. What goes wrong with a single callback's source is logged, and tried again. A panic in
    /// a callback ends it with that panic, on whatever thread it happened; the executor can spin again.
    ///
    /// # Errors
    /// There is no node; the process forked.
    fn spin(&mut self) -> Result<()> {
        self.spin_while(None, &mut || true).map(|_| ())
    }

    /// Waits until there is something to do, and runs one callback; `false` if there was nothing within `timeout`, or it was
    /// canceled.
    ///
    /// # Errors
    /// As [`Executor::spin`].
    fn spin_once(&mut self, timeout: Duration) -> Result<bool> {
        let deadline = Instant::now().checked_add(timeout);
        self.turn().check()?;
        loop {
            self.gather();
            if self.turn().told.is_canceled() {
                self.turn().told.forget_cancel();
                return Ok(false);
            }
            if self.step() {
                self.turn().told.forget_cancel(); // the callback's, or one that came while it ran
                return Ok(true);
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(false);
            }
            self.turn().rest(deadline)?;
        }
    }

    /// Runs callbacks for what is there now, without waiting, for `max_duration` at most (looked at between two callbacks; 0: no limit), and
    /// returns how many ran. A callback runs once, however much there is for it (in an [`EventsExecutor`] that drops, for all of it); what
    /// comes meanwhile is left for the next call.
    ///
    /// # Errors
    /// As [`Executor::spin`].
    fn spin_some(&mut self, max_duration: Duration) -> Result<usize> {
        let deadline = (!max_duration.is_zero()).then(|| Instant::now().checked_add(max_duration)).flatten();
        self.turn().check()?;
        self.gather();
        let mut ran = 0;
        while !self.turn().told.is_canceled() && self.step() {
            ran += 1;
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                break;
            }
        }
        self.turn().told.forget_cancel();
        Ok(ran)
    }

    /// Runs callbacks until `condition` holds, which is looked at before each wait and after each callback; `false` if it did not
    /// within `timeout`, or it was canceled.
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

    /// What ends a spin from anywhere: another thread, a callback.
    fn canceler(&mut self) -> Canceler {
        Canceler(self.turn().told.clone())
    }
}

/// Ends the spin of an executor.
#[derive(Clone, Debug)]
pub struct Canceler(Arc<Told>);

impl Canceler {
    /// Ends the spin that is under way once the callback that runs now is done, or the next one before it begins. From any thread,
    /// from callbacks, too.
    ///
    /// # Real-time
    /// No allocation; one lock, which is held for some nanoseconds, and at most one system call.
    pub fn cancel(&self) {
        self.0.cancel();
    }
}
