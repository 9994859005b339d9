//! The multi-threaded executor: one thread sleeps for all (the *watcher*), the others run callbacks or wait for one to
//! run.
//!
//! Callbacks of a mutually exclusive group run one at a time. Invariant: while a callback can run or there is no
//! watcher, a thread is on its way to see to it; so a thread that begins to run a callback wakes an idle one.

use super::{
    Executor,
    ready_queue::{ReadyQueue, Running},
    single::Round,
    steps::{ExecutorSteps, Spinning},
    wake_signal::WakeSignal,
};
use crate::{
    callback::{CallbackGroupType, RunOutcome, TakeOrder},
    error::{Error, Result},
    wait::lock,
};
use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, atomic::Ordering::Relaxed},
};

/// Runs callbacks on several threads, in rounds as a [`SingleThreadedExecutor`](super::SingleThreadedExecutor) does.
/// Each callback runs on one thread at a time, and so do the callbacks of a mutually exclusive group together. Only
/// [`spin`](Executor::spin) starts threads; the other methods use the calling thread.
pub struct MultiThreadedExecutor {
    threads: usize,
    round: Round,
}

/// The threads of one spin.
struct WorkerPool {
    signal: Arc<WakeSignal>,
    state: Mutex<PoolState>,
    /// A callback can run, or there is no watcher.
    has_work: Condvar,
}

struct PoolState {
    round: Round,
    /// A thread sleeps in the collector.
    has_watcher: bool,
    /// The number of threads that wait for `has_work`.
    idle: usize,
    error: Option<Error>,
    /// A callback's panic, which `spin` resumes on the calling thread.
    panic: Option<Box<dyn Any + Send>>,
}

impl Default for MultiThreadedExecutor {
    fn default() -> MultiThreadedExecutor {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        MultiThreadedExecutor::with_threads(cpus.max(2))
    }
}

impl MultiThreadedExecutor {
    /// An executor without nodes, with as many threads as there are usable CPUs, but at least 2.
    #[must_use]
    pub fn new() -> MultiThreadedExecutor {
        MultiThreadedExecutor::default()
    }

    /// An executor with that many threads (at least 1), the calling one included.
    #[must_use]
    pub fn with_threads(threads: usize) -> MultiThreadedExecutor {
        MultiThreadedExecutor { threads: threads.max(1), round: Round::default() }
    }
}

impl Executor for MultiThreadedExecutor {
    fn spin(&mut self) -> Result<()> {
        let _spinning = Spinning::begin(&mut self.round.ready_queue)?;
        let signal = self.round.ready_queue.signal.clone();
        let round = std::mem::take(&mut self.round);
        let state = PoolState { round, has_watcher: false, idle: 0, error: None, panic: None };
        let pool = WorkerPool { signal, state: Mutex::new(state), has_work: Condvar::new() };
        let started = std::thread::scope(|scope| {
            for _ in 1..self.threads {
                let thread = std::thread::Builder::new().name("gantry-executor".to_owned());
                if let Err(source) = thread.spawn_scoped(scope, || pool.run()) {
                    pool.signal.cancel();
                    return Err(source);
                }
            }
            pool.run();
            Ok(())
        });
        let state = pool.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.round = state.round;
        self.round.ready_queue.end_spin();
        pool.signal.reset_cancel();
        if let Some(panic) = state.panic {
            resume_unwind(panic);
        }
        started
            .map_err(|source| gantry_shm::Error::System { action: "start an executor's thread".to_owned(), source })?;
        state.error.map_or(Ok(()), Err)
    }
}

impl ExecutorSteps for MultiThreadedExecutor {
    fn ready_queue(&mut self) -> &mut ReadyQueue {
        &mut self.round.ready_queue
    }

    fn gather(&mut self) {
        self.round.gather();
    }

    fn step(&mut self) -> bool {
        self.round.step()
    }
}

impl WorkerPool {
    /// The loop of each thread, until a cancel, an error or a panic.
    fn run(&self) {
        let _stop = StopAtEnd(self);
        let mut state = lock(&self.state);
        while !self.signal.is_canceled() && state.error.is_none() && state.panic.is_none() {
            state.gather();
            if let Some(running) = state.start() {
                self.wake_another(&state);
                drop(state);
                let outcome = catch_unwind(AssertUnwindSafe(|| running.callback.run(TakeOrder::Turns)));
                state = lock(&self.state);
                let may_be_due_earlier = state.finish(running, outcome);
                if state.has_watcher && may_be_due_earlier {
                    self.signal.wake_executor();
                }
            } else if state.has_watcher {
                state.idle += 1;
                state = self.has_work.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
            } else {
                state = self.watch(state);
            }
        }
    }

    /// Wakes an idle thread for the next callback, or to become the watcher.
    fn wake_another(&self, state: &PoolState) {
        if state.idle > 0 && (!state.has_watcher || state.has_more()) {
            self.has_work.notify_one();
        }
    }

    /// Sleeps for all threads.
    fn watch<'a>(&'a self, mut state: MutexGuard<'a, PoolState>) -> MutexGuard<'a, PoolState> {
        let Some(until) = state.round.ready_queue.sleep_deadline(None) else { return state };
        let Some(mut collector) = state.round.ready_queue.collector.take() else { return state };
        state.has_watcher = true;
        drop(state);
        let waited = collector.wait(until, || self.signal.should_wake());
        let mut state = lock(&self.state);
        state.has_watcher = false;
        state.round.ready_queue.collector = Some(collector);
        state.error = waited.err().map(Error::from).or(state.error.take());
        state
    }
}

impl PoolState {
    /// Gathers, unless a watcher has the collector, and adds the ready callbacks to the round.
    fn gather(&mut self) {
        if !self.has_watcher {
            self.round.gather_ready();
        }
        self.round.add_ready();
    }

    fn may_run(ready_queue: &ReadyQueue, index: usize) -> bool {
        let group = &ready_queue.registered(index).callback.group;
        group.kind == CallbackGroupType::Reentrant || !group.is_busy.load(Relaxed)
    }

    fn has_more(&self) -> bool {
        self.round.any(PoolState::may_run)
    }

    /// Starts the next callback that may run.
    fn start(&mut self) -> Option<Running> {
        let index = self.round.next(PoolState::may_run)?;
        let running = self.round.ready_queue.start(index);
        running.callback.group.is_busy.store(true, Relaxed);
        Some(running)
    }

    /// Ends a run; a panic ends the spin, too. Returns whether the watcher may have to wake earlier.
    fn finish(&mut self, running: Running, outcome: std::thread::Result<RunOutcome>) -> bool {
        let outcome = outcome.unwrap_or_else(|panic| {
            self.panic.get_or_insert(panic);
            RunOutcome::More
        });
        running.callback.group.is_busy.store(false, Relaxed);
        self.round.ready_queue.finish(running, outcome)
    }
}

/// Ends all threads when one ends, also by a panic.
struct StopAtEnd<'a>(&'a WorkerPool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.signal.cancel();
        // Under the lock: another thread may have seen no cancel and not wait yet.
        drop(lock(&self.0.state));
        self.0.has_work.notify_all();
    }
}

impl std::fmt::Debug for MultiThreadedExecutor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MultiThreadedExecutor({} threads, {:?})", self.threads, self.round.ready_queue)
    }
}
