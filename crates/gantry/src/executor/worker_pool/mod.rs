//! The threads of one spin. They share the ready callbacks under a lock. A thread that has nothing to run sleeps on the
//! executor's bell without the lock.
//!
//! No thread only distributes news: news wakes one of the sleeping threads, which gathers the ready callbacks for all
//! threads. A thread that begins to run a callback leaves the gathering to the sleeping threads
//! (`Collector::hand_over`). Invariants, under the lock:
//! - A thread that gathered runs a callback, sleeps, or waits in reserve. Before it runs or waits, it hands the
//!   gathering over to the other threads.
//! - While a callback can run and a thread has nothing to do, one thread is awake to run the callback: the last thread
//!   that gathered, or the thread that it woke.
//! - While a thread sleeps, one of the sleeping threads wakes at the next due time.
//!
//! A thread that has nothing left to run gathers. Its next step depends on the number of threads that already sleep:
//!
//! | threads asleep | this thread | the next news | the next due time |
//! | --- | --- | --- | --- |
//! | 0 or 1 | sleeps until the next due time | wakes one of the sleeping threads, which gathers | ends its sleep |
//! | 2 | hands the gathering over, waits in reserve | wakes one of the sleeping threads | ends the sleep of one of the
//! two |
//!
//! `hand_over` wakes one of the two threads if the next due time is earlier than the ends of both sleeps; this thread
//! then sleeps until the due time.
//!
//! When a thread begins to run a callback, it hands the gathering over, and wakes at most one other thread:
//!
//! | threads asleep | threads in reserve | the thread that is woken |
//! | --- | --- | --- |
//! | some | any | a sleeping thread, if a callback can run, or is due before the earliest sleep ends; else none |
//! | none | some | a thread in reserve, which gathers and sleeps |
//! | none | none | none: all threads run callbacks, and gather afterwards |
//!
//! The next news wakes a thread if this thread wakes no sleeping thread.
//!
//! A spin with a condition has one more thread: the calling thread, which checks the condition after each gathering.

mod order;

pub(super) use order::Order;

use super::{
    ready_queue::{Deferred, Running},
    steps::{GoesOn, is_past},
    wake_signal::WakeSignal,
};
use crate::{
    callback::RunOutcome,
    error::{Error, Result},
    time::remaining,
    wait::lock,
};
use gantry_shm::Sleeper;
use std::{
    any::Any,
    mem::take,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::Builder,
    time::Instant,
};

/// The maximum number of threads that sleep on the bell: one for the next news, and one for news that arrives while the
/// first thread works. More sleeping threads would take turns, each with cold caches, so further threads wait in
/// reserve.
const MOST_ASLEEP: usize = 2;

/// The threads of one spin.
struct WorkerPool<O> {
    signal: Arc<WakeSignal>,
    state: Mutex<PoolState<O>>,
    /// The condition variable that wakes a thread in reserve.
    has_work: Condvar,
    /// The condition variable that wakes the thread which checks the spin's condition.
    has_turned: Condvar,
}

/// The state that a spin returns: the order with its callbacks, and a failure.
pub(super) struct PoolEnd<O> {
    pub(super) order: O,
    error: Option<Error>,
    /// The panic of a callback or of the condition, to be resumed on the thread that spins.
    panic: Option<Box<dyn Any + Send>>,
}

struct PoolState<O> {
    end: PoolEnd<O>,
    /// The number of gatherings since the last check of the condition.
    turns: usize,
    /// The wake-up times (CLOCK_MONOTONIC) of the threads that sleep or are about to sleep. Only their number and the
    /// earliest time are used, so a thread that wakes may remove any entry that equals its own time.
    asleep: Vec<u64>,
    /// The number of threads that wait in reserve, on the condition variable `has_work`.
    in_reserve: usize,
}

/// Runs callbacks on this number of threads while `goes_on` holds, until the deadline or a cancel.
pub(super) fn spin_on_threads<O: Order>(
    order: O,
    threads: usize,
    deadline: Option<Instant>,
    mut goes_on: Option<GoesOn<'_>>,
) -> PoolEnd<O> {
    let pool = WorkerPool::new(order);
    pool.signal.set_threads(threads);
    let has_condition = goes_on.is_some() || deadline.is_some();
    let is_over = has_condition && !pool.holds(&mut goes_on);
    let started = std::thread::scope(|scope| {
        if is_over {
            return Ok(());
        }
        for _ in 0..threads - usize::from(!has_condition) {
            let thread = Builder::new().name("gantry-executor".to_owned());
            thread.spawn_scoped(scope, || pool.run()).inspect_err(|_| pool.cancel())?;
        }
        if has_condition {
            pool.check(deadline, goes_on)
        } else {
            pool.run()
        }
        Ok(())
    });
    pool.signal.reset_cancel();
    let mut end = pool.state.into_inner().unwrap_or_else(PoisonError::into_inner).end;
    if let Err(source) = started {
        let action = "start an executor's thread".to_owned();
        end.error.get_or_insert(gantry_shm::Error::System { action, source }.into());
    }
    end
}

impl<O> PoolEnd<O> {
    /// Returns the result of the spin, or resumes the panic of a callback.
    pub(super) fn into_result(self) -> Result<()> {
        if let Some(panic) = self.panic {
            resume_unwind(panic);
        }
        self.error.map_or(Ok(()), Err)
    }
}

impl<O: Order> WorkerPool<O> {
    fn new(mut order: O) -> WorkerPool<O> {
        let signal = order.ready_queue().signal.clone();
        let end = PoolEnd { order, error: None, panic: None };
        let state = PoolState { end, turns: 0, asleep: Vec::new(), in_reserve: 0 };
        WorkerPool { signal, state: Mutex::new(state), has_work: Condvar::new(), has_turned: Condvar::new() }
    }

    /// Ends all threads.
    fn cancel(&self) {
        self.signal.cancel();
        // The lock is taken once before the threads are woken. A thread that checked before the cancel holds the lock
        // until it waits, so it gets the wake-up.
        drop(lock(&self.state));
        self.signal.wake_all_threads();
        self.has_work.notify_all();
        self.has_turned.notify_all();
    }

    /// The loop of each thread. When one thread leaves the loop, the spin ends for all threads.
    fn run(&self) {
        let _cancel = CancelAtEnd(self);
        let mut sleeper = Sleeper::new();
        let mut state = lock(&self.state);
        while !self.is_over(&state) {
            state.end.order.gather(); // may clear a notification for the condition
            state.turns += 1;
            if state.turns == 1 {
                self.has_turned.notify_one();
            }
            let deferred = take(&mut state.end.order.ready_queue().deferred);
            if !deferred.is_empty() {
                state = self.finish_deferred(state, deferred);
            } else if let Some(running) = state.end.order.start() {
                self.hand_over(&mut state);
                drop(state);
                let outcome = catch_unwind(AssertUnwindSafe(|| running.run()));
                state = lock(&self.state);
                state.finish(running, outcome);
            } else if state.asleep.len() == MOST_ASLEEP {
                self.hand_over(&mut state);
                state.in_reserve += 1;
                state = self.has_work.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.in_reserve -= 1;
            } else {
                state = self.sleep(state, &mut sleeper);
            }
        }
    }

    /// Does the postponed work of the gathering without the lock, because this work runs user code, which may take long
    /// or panic.
    fn finish_deferred<'a>(
        &'a self,
        mut state: MutexGuard<'a, PoolState<O>>,
        deferred: Deferred,
    ) -> MutexGuard<'a, PoolState<O>> {
        self.hand_over(&mut state);
        drop(state);
        let finished = catch_unwind(AssertUnwindSafe(|| deferred.finish()));
        let mut state = lock(&self.state);
        state.end.panic = state.end.panic.take().or(finished.err());
        state
    }

    /// Checks the spin's condition after each gathering until the spin is over, and once after the deadline.
    fn check(&self, deadline: Option<Instant>, mut goes_on: Option<GoesOn<'_>>) {
        let _cancel = CancelAtEnd(self);
        let mut state = lock(&self.state);
        while !self.is_over(&state) {
            state.turns = 0;
            drop(state);
            let is_late = is_past(deadline); // before the check: a condition that holds at the deadline counts
            if !self.holds(&mut goes_on) || is_late {
                return;
            }
            state = lock(&self.state);
            if state.turns == 0 && !self.is_over(&state) {
                let waited = self.has_turned.wait_timeout(state, remaining(deadline));
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }

    /// Whether the spin's condition holds. A panic of the condition ends the spin and counts as `false`.
    fn holds(&self, goes_on: &mut Option<GoesOn<'_>>) -> bool {
        let holds = catch_unwind(AssertUnwindSafe(|| goes_on.as_mut().is_none_or(|goes_on| goes_on())));
        holds.unwrap_or_else(|panic| {
            lock(&self.state).end.panic.get_or_insert(panic);
            false
        })
    }

    fn is_over(&self, state: &PoolState<O>) -> bool {
        self.signal.is_canceled() || state.end.error.is_some() || state.end.panic.is_some()
    }

    /// Leaves the gathering to another thread, and wakes a thread if a callback is ready now.
    fn hand_over(&self, state: &mut PoolState<O>) {
        let PoolState { end: PoolEnd { order, .. }, asleep, in_reserve, .. } = state;
        let (has_more, ready_queue, earliest) = (order.has_more(), order.ready_queue(), asleep.iter().min());
        match (&ready_queue.collector, earliest) {
            (Some(collector), Some(&earliest_ns)) => {
                if has_more || ready_queue.next_due_ns() < earliest_ns {
                    collector.wake_sleeper();
                } else {
                    collector.hand_over(|| self.signal.should_wake());
                }
            }
            _ if *in_reserve > 0 => self.has_work.notify_one(),
            _ => {} // All threads run callbacks, and gather afterwards.
        }
    }

    /// Sleeps until there is news or a callback is due.
    fn sleep<'a>(
        &'a self,
        mut state: MutexGuard<'a, PoolState<O>>,
        sleeper: &mut Sleeper,
    ) -> MutexGuard<'a, PoolState<O>> {
        let ready_queue = state.end.order.ready_queue();
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
        // The removed entry is the thread's own time, or an equal time of another thread.
        if let Some(index) = state.asleep.iter().position(|other_ns| *other_ns == until_ns) {
            state.asleep.swap_remove(index);
        }
        state
    }
}

impl<O: Order> PoolState<O> {
    /// Ends a run. A panic of the callback also ends the spin.
    fn finish(&mut self, running: Running, outcome: std::thread::Result<RunOutcome>) {
        let outcome = outcome.unwrap_or_else(|panic| {
            self.end.panic.get_or_insert(panic);
            RunOutcome::More
        });
        self.end.order.finish(running, outcome);
    }
}

/// A guard whose drop, also by a panic, ends all threads.
struct CancelAtEnd<'a, O: Order>(&'a WorkerPool<O>);

impl<O: Order> Drop for CancelAtEnd<'_, O> {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
