//! Several threads that run the callbacks of one turn: one sleeps for all, the others run or wait for something to run.
//!
//! Callbacks of a mutually exclusive group run one at a time. Invariant: while something can run or nobody sleeps in the collector, a
//! thread is on its way to see to it; so whoever begins to run a callback calls another if there is one.

use super::{Executor, ready_queue::Turn, single::Round, steps::Steps, wake_signal::Told};
use crate::{
    callback::{Callback, CallbackGroupType, Ran},
    error::{Error, Result},
};
use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, atomic::Ordering::Relaxed},
};

/// Runs callbacks on several threads. Each callback runs on one thread at a time, those of a mutually exclusive group one at a time
/// in all; else in rounds, as a [`SingleThreadedExecutor`](super::SingleThreadedExecutor) does. Only [`spin`](Executor::spin) starts threads:
/// the others use the calling one.
///
/// # Real-time
/// Not for real-time threads: it locks each callback, and may allocate. A real-time loop takes and publishes itself.
pub struct MultiThreadedExecutor {
    threads: usize,
    round: Round,
}

/// The threads of one spin.
struct Crew {
    told: Arc<Told>,
    work: Mutex<Work>,
    /// There is something to run, or nobody sleeps in the collector.
    call: Condvar,
}

struct Work {
    round: Round,
    /// Somebody sleeps in the collector.
    is_watched: bool,
    /// Threads that wait for a call.
    idle: usize,
    error: Option<Error>,
    /// Of a callback, to go on with where it was called to spin.
    panic: Option<Box<dyn Any + Send>>,
}

impl Default for MultiThreadedExecutor {
    fn default() -> MultiThreadedExecutor {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        MultiThreadedExecutor::with_threads(cpus.max(2))
    }
}

impl MultiThreadedExecutor {
    /// No node is in it yet; as many threads as there are usable CPUs, but at least 2.
    #[must_use]
    pub fn new() -> MultiThreadedExecutor {
        MultiThreadedExecutor::default()
    }

    /// With so many threads (at least 1), that which spins among them.
    #[must_use]
    pub fn with_threads(threads: usize) -> MultiThreadedExecutor {
        MultiThreadedExecutor { threads: threads.max(1), round: Round::default() }
    }
}

impl Executor for MultiThreadedExecutor {
    fn spin(&mut self) -> Result<()> {
        self.round.turn.check()?;
        let told = self.round.turn.told.clone();
        let round = std::mem::take(&mut self.round);
        let work = Work { round, is_watched: false, idle: 0, error: None, panic: None };
        let crew = Crew { told, work: Mutex::new(work), call: Condvar::new() };
        let started = std::thread::scope(|scope| {
            for _ in 1..self.threads {
                let thread = std::thread::Builder::new().name("gantry-executor".to_owned());
                if let Err(source) = thread.spawn_scoped(scope, || crew.run()) {
                    crew.told.cancel();
                    return Err(source);
                }
            }
            crew.run();
            Ok(())
        });
        let work = crew.work.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.round = work.round;
        crew.told.forget_cancel();
        if let Some(panic) = work.panic {
            resume_unwind(panic);
        }
        started
            .map_err(|source| gantry_shm::Error::System { action: "start an executor's thread".to_owned(), source })?;
        work.error.map_or(Ok(()), Err)
    }
}

impl Steps for MultiThreadedExecutor {
    fn turn(&mut self) -> &mut Turn {
        &mut self.round.turn
    }

    fn gather(&mut self) {
        self.round.gather();
    }

    fn step(&mut self) -> bool {
        self.round.step()
    }
}

impl Crew {
    /// What each thread does, until it is canceled or waiting fails.
    fn run(&self) {
        let _end = End(self);
        let mut work = self.work();
        while !self.told.is_canceled() && work.error.is_none() && work.panic.is_none() {
            work.gather();
            if let Some(callback) = work.start() {
                self.call_another(&work);
                drop(work);
                let ran = catch_unwind(AssertUnwindSafe(|| callback.run()));
                work = self.work();
                let ran = work.or_end(ran);
                work.finish(&callback, ran);
                if work.is_watched && work.round.turn.changes_rest(&callback, ran) {
                    self.told.tell();
                }
            } else if work.is_watched {
                work.idle += 1;
                work = self.call.wait(work).unwrap_or_else(PoisonError::into_inner);
                work.idle -= 1;
            } else {
                work = self.watch(work);
            }
        }
    }

    fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets another thread see to what is left, or sleep for all.
    fn call_another(&self, work: &Work) {
        if work.idle > 0 && (!work.is_watched || work.has_more()) {
            self.call.notify_one();
        }
    }

    /// Sleeps for all.
    fn watch<'a>(&'a self, mut work: MutexGuard<'a, Work>) -> MutexGuard<'a, Work> {
        let Some(until) = work.round.turn.rest_until(None) else { return work };
        let Some(mut collector) = work.round.turn.collector.take() else { return work };
        work.is_watched = true;
        drop(work);
        let waited = collector.wait(until, || self.told.is_news());
        let mut work = self.work();
        work.is_watched = false;
        work.round.turn.collector = Some(collector);
        work.error = waited.err().map(Error::from).or(work.error.take());
        work
    }
}

impl Work {
    /// Finds out what can run; only what is known already, while somebody sleeps in the collector.
    fn gather(&mut self) {
        if !self.is_watched && self.round.turn.gather() {
            self.round.forget();
        }
        self.round.add_ready();
    }

    fn may_run(turn: &Turn, place: usize) -> bool {
        let group = &turn.member(place).callback.group;
        group.kind == CallbackGroupType::Reentrant || !group.is_busy.load(Relaxed)
    }

    fn has_more(&self) -> bool {
        self.round.any(Work::may_run)
    }

    /// The next callback that may run, which does from now on.
    fn start(&mut self) -> Option<Arc<Callback>> {
        let place = self.round.next(Work::may_run)?;
        let callback = self.round.turn.start(place);
        callback.group.is_busy.store(true, Relaxed);
        Some(callback)
    }

    /// What came of a run: if it was a panic, the spin ends with that.
    fn or_end(&mut self, ran: std::thread::Result<Ran>) -> Ran {
        ran.unwrap_or_else(|panic| {
            self.panic.get_or_insert(panic);
            Ran::Once
        })
    }

    fn finish(&mut self, callback: &Callback, ran: Ran) {
        callback.group.is_busy.store(false, Relaxed);
        self.round.turn.ran(callback, ran);
    }
}

/// A thread ends: so do the others, if it panics, too.
struct End<'a>(&'a Crew);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.told.cancel();
        // Not between another thread's look at that and its wait.
        drop(self.0.work());
        self.0.call.notify_all();
    }
}

impl std::fmt::Debug for MultiThreadedExecutor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MultiThreadedExecutor({} threads, {:?})", self.threads, self.round.turn)
    }
}
