//! The threads of one spin. They share the ready callbacks under a lock; the threads that have nothing to run sleep
//! without it on the executor's bell.
//!
//! The news itself chooses the thread that follows: a ring wakes one of the sleeping threads, which gathers for all. A
//! thread that begins to run a callback wakes no other one; it only leaves the gathering to the threads that sleep
//! (`Collector::hand_over`). Invariants, under the lock:
//! - A thread that gathered runs a callback, sleeps, or waits in reserve; before it runs or waits, it hands over.
//! - While a callback can run and a thread has nothing to do, a thread is on its way: the one that gathered last, or
//!   the one that it woke.
//! - While a thread sleeps, one of the sleeping threads wakes at the next due time.

use super::{lanes::Lanes, ready_queue::Running, wake_signal::WakeSignal};
use crate::{
    callback::{RunOutcome, TakeOrder},
    error::Error,
    wait::lock,
};
use gantry_shm::Sleeper;
use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
};

/// The number of threads that sleep on the bell: one for the next news, and one for news that come while that one works.
/// More would take turns, each with cold caches; they wait in reserve.
const MOST_ASLEEP: usize = 2;

/// The threads of one spin.
pub(super) struct WorkerPool {
    signal: Arc<WakeSignal>,
    state: Mutex<PoolState>,
    /// Wakes a thread in reserve.
    has_work: Condvar,
}

/// The end of a spin.
pub(super) struct PoolEnd {
    pub(super) lanes: Lanes,
    pub(super) error: Option<Error>,
    /// A callback's panic, to be resumed on the thread that spins.
    pub(super) panic: Option<Box<dyn Any + Send>>,
}

struct PoolState {
    end: PoolEnd,
    /// The times until which the threads sleep that sleep, or are about to, CLOCK_MONOTONIC.
    asleep: Vec<u64>,
    /// The number of threads that wait for `has_work`.
    in_reserve: usize,
}

impl WorkerPool {
    pub(super) fn new(lanes: Lanes) -> WorkerPool {
        let signal = lanes.ready_queue.signal.clone();
        let end = PoolEnd { lanes, error: None, panic: None };
        let state = PoolState { end, asleep: Vec::new(), in_reserve: 0 };
        WorkerPool { signal, state: Mutex::new(state), has_work: Condvar::new() }
    }

    /// Ends all threads.
    pub(super) fn cancel(&self) {
        self.signal.cancel();
        // Under the lock: another thread may have seen no cancel and not sleep yet.
        drop(lock(&self.state));
        self.signal.wake_all_threads();
        self.has_work.notify_all();
    }

    /// The end of a spin all of whose threads have ended.
    pub(super) fn into_end(self) -> PoolEnd {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).end
    }

    /// The loop of each thread, until a cancel, an error or a panic.
    pub(super) fn run(&self) {
        let _cancel = CancelAtEnd(self);
        let mut sleeper = Sleeper::new();
        let mut state = lock(&self.state);
        while !self.signal.is_canceled() && state.end.error.is_none() && state.end.panic.is_none() {
            state.end.lanes.gather();
            if let Some(running) = state.end.lanes.start() {
                self.hand_over(&state);
                drop(state);
                let outcome = catch_unwind(AssertUnwindSafe(|| running.callback.run(TakeOrder::Turns)));
                state = lock(&self.state);
                state.finish(running, outcome);
            } else if state.asleep.len() == MOST_ASLEEP {
                self.hand_over(&state);
                state.in_reserve += 1;
                state = self.has_work.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.in_reserve -= 1;
            } else {
                state = self.sleep(state, &mut sleeper);
            }
        }
    }

    /// Leaves the gathering to another thread, and wakes one if there is something for it to do now.
    fn hand_over(&self, state: &PoolState) {
        let PoolState { end: PoolEnd { lanes, .. }, asleep, in_reserve } = state;
        let (ready_queue, earliest) = (&lanes.ready_queue, asleep.iter().min());
        match (&ready_queue.collector, earliest) {
            (Some(collector), Some(&earliest_ns)) => {
                if lanes.has_more() || ready_queue.next_due_ns() < earliest_ns {
                    collector.wake_sleeper();
                } else {
                    collector.hand_over(|| self.signal.should_wake());
                }
            }
            _ if *in_reserve > 0 => self.has_work.notify_one(),
            _ => {} // All threads run callbacks, and gather after that.
        }
    }

    /// Sleeps until there is news, or a callback is due.
    fn sleep<'a>(&'a self, mut state: MutexGuard<'a, PoolState>, sleeper: &mut Sleeper) -> MutexGuard<'a, PoolState> {
        let ready_queue = &mut state.end.lanes.ready_queue;
        let (until, until_ns) = (ready_queue.sleep_deadline(None), ready_queue.next_due_ns());
        let (Some(until), Some(collector)) = (until, &mut ready_queue.collector) else { return state };
        let sleep = match collector.prepare_sleep() {
            Ok(sleep) => sleep,
            Err(error) => {
                state.end.error.get_or_insert(error.into());
                return state;
            }
        };
        state.asleep.push(until_ns);
        drop(state);
        sleeper.sleep(sleep, until, || self.signal.should_wake());
        let mut state = lock(&self.state);
        if let Some(index) = state.asleep.iter().position(|other_ns| *other_ns == until_ns) {
            state.asleep.swap_remove(index);
        }
        state
    }
}

impl PoolState {
    /// Ends a run; a panic ends the spin, too.
    fn finish(&mut self, running: Running, outcome: std::thread::Result<RunOutcome>) {
        let outcome = outcome.unwrap_or_else(|panic| {
            self.end.panic.get_or_insert(panic);
            RunOutcome::More
        });
        self.end.lanes.finish(running, outcome);
    }
}

/// Ends all threads when one ends, also by a panic.
struct CancelAtEnd<'a>(&'a WorkerPool);

impl Drop for CancelAtEnd<'_> {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
