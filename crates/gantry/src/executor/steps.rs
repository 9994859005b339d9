//! The steps of a spin: gather the ready callbacks, then run them one at a time.

use super::{ready_queue::ReadyQueue, wake_signal::WakeSignal};
use crate::error::Result;
use std::{
    mem::take,
    sync::Arc,
    time::{Duration, Instant},
};

/// The condition that keeps a spin going. The calling thread checks it.
pub(super) type GoesOn<'a> = &'a mut dyn FnMut() -> bool;

/// The steps of an executor. The trait is not exported, so only this crate's types can be executors.
pub trait ExecutorSteps {
    fn ready_queue(&mut self) -> &mut ReadyQueue;

    /// Finds the callbacks that may run.
    fn gather(&mut self);

    /// Gathers, and does the postponed work of the gathering at once, because the caller holds no lock.
    fn gather_unlocked(&mut self) {
        self.gather();
        take(&mut self.ready_queue().deferred).finish();
    }

    /// Runs one of the gathered callbacks; returns `false` if no gathered callback is left.
    fn step(&mut self) -> bool;

    /// Runs callbacks while `goes_on` holds, until the deadline or a cancel.
    fn spin_while(&mut self, deadline: Option<Instant>, goes_on: Option<GoesOn<'_>>) -> Result<()> {
        spin_on_this_thread(self, deadline, goes_on)
    }

    /// Runs the callbacks that are ready and, if `again` is true, also the callbacks that become ready during the call.
    /// Returns the number of runs.
    fn run_ready(&mut self, max_duration: Duration, again: bool) -> Result<usize> {
        let deadline = (!max_duration.is_zero()).then(|| deadline_after(max_duration)).flatten();
        within_spin(self, |executor| {
            let (signal, mut ran, mut before) = (executor.ready_queue().signal.clone(), 0, None);
            while before.is_none() || again && before != Some(ran) {
                before = Some(ran);
                executor.gather_unlocked();
                while !signal.is_canceled() && (ran == 0 || !is_past(deadline)) && executor.step() {
                    ran += 1;
                }
            }
            signal.reset_cancel();
            Ok(ran)
        })
    }
}

/// Runs callbacks on this thread while `goes_on` holds, until the deadline or a cancel.
pub(super) fn spin_on_this_thread<E: ExecutorSteps + ?Sized>(
    executor: &mut E,
    deadline: Option<Instant>,
    mut goes_on: Option<GoesOn<'_>>,
) -> Result<()> {
    within_spin(executor, |executor| {
        let signal = executor.ready_queue().signal.clone();
        loop {
            // Gathering clears the notification of a thread that made the condition true, so the condition is checked
            // after the gathering.
            executor.gather_unlocked();
            let is_late = is_past(deadline); // before the check: a condition that holds at the deadline counts
            if signal.is_canceled() || goes_on.as_mut().is_some_and(|goes_on| !goes_on()) || is_late {
                break;
            }
            if !executor.step() {
                executor.ready_queue().sleep(deadline)?;
            }
        }
        signal.reset_cancel();
        Ok(())
    })
}

/// Runs a spin: first checks that the executor has members, and at the end releases removed members.
pub(super) fn within_spin<E: ExecutorSteps + ?Sized, R>(
    executor: &mut E,
    spin: impl FnOnce(&mut E) -> Result<R>,
) -> Result<R> {
    let _spinning = Spinning::begin(executor.ready_queue())?;
    let result = spin(executor);
    executor.ready_queue().end_spin();
    result
}

impl<E: ExecutorSteps + ?Sized> ExecutorSteps for Box<E> {
    fn ready_queue(&mut self) -> &mut ReadyQueue {
        (**self).ready_queue()
    }

    fn gather(&mut self) {
        (**self).gather();
    }

    fn step(&mut self) -> bool {
        (**self).step()
    }

    fn spin_while(&mut self, deadline: Option<Instant>, goes_on: Option<GoesOn<'_>>) -> Result<()> {
        (**self).spin_while(deadline, goes_on)
    }
}

/// A guard of a spin. Dropping the guard, also by a panic, ends the spin.
pub(super) struct Spinning(Arc<WakeSignal>);

impl Spinning {
    /// Begins a spin; fails if the executor has no node and no group.
    pub(super) fn begin(ready_queue: &mut ReadyQueue) -> Result<Spinning> {
        ready_queue.check()?;
        ready_queue.signal.set_threads(1);
        Ok(Spinning(ready_queue.signal.clone()))
    }
}

impl Drop for Spinning {
    fn drop(&mut self) {
        self.0.set_threads(0);
    }
}

/// Whether a deadline has passed.
pub(super) fn is_past(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() >= deadline)
}

/// The time `timeout` from now; `None` if an `Instant` cannot represent it.
pub(super) fn deadline_after(timeout: Duration) -> Option<Instant> {
    Instant::now().checked_add(timeout)
}
