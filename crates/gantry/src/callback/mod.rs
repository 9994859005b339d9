//! Callbacks. A callback is a closure and the source from which the values for the closure are taken. The types of
//! both are erased, so that executors can run any callback.
//!
//! A node keeps its callbacks. At most one thread at a time runs a callback: the executor guarantees this, so a run
//! finds the callback's mutex free unless another thread reads the source.

mod any_callback;
mod callbacks;
mod group;
mod kept_order;
mod run_state;
mod typed_callback;

pub(crate) use any_callback::{EventKey, KeptEvent, RunOutcome};
pub use callbacks::CallbackHandle;
pub(crate) use callbacks::Callbacks;
pub use group::CallbackGroupType;
pub(crate) use group::Group;

use crate::{
    error::Error,
    log::{self, Nth, is_logged},
    wait::{lock, try_lock},
};
use any_callback::{AnyCallback, RemovedCallback};
use run_state::RunState;
use std::{
    mem::{Discriminant, discriminant},
    sync::{
        Arc, Mutex, MutexGuard, Weak,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::*},
    },
};

/// The index of a callback that no executor has.
pub(crate) const NO_INDEX: usize = usize::MAX;

/// A callback of a node.
pub(crate) struct Callback {
    /// The list of its node.
    node: Weak<Callbacks>,
    pub(crate) group: Arc<Group>,
    /// The callback's index in the executor that has it, or [`NO_INDEX`]. The index is written and read by that
    /// executor, under its lock if it has one.
    pub(crate) index: AtomicUsize,
    /// The name of the source as a part of a sentence, which is kept here so that the log can name the source while
    /// the callback is locked.
    pub(crate) source: String,
    runs: RunState,
    /// Whether a slow run of the callback was logged.
    is_known_slow: AtomicBool,
    is_failing: AtomicBool,
    /// The malformed samples of its source.
    malformed: AtomicU64,
    /// The kinds of errors of the callback's source that were logged since the source last worked.
    failures: Mutex<Vec<Failure>>,
    inner: Mutex<Box<dyn AnyCallback>>,
}

/// A guard that ends a run, also after a panic: it drops the closure of a callback that was removed during the run.
struct RunEnd<'a>(&'a Callback);

/// The kind of an error; if it is an error of the engine, also the kind of the engine's error.
type Failure = (Discriminant<Error>, Option<Discriminant<gantry_shm::Error>>);

impl Callback {
    fn new(node: Weak<Callbacks>, group: Arc<Group>, mut inner: Box<dyn AnyCallback>) -> Callback {
        Callback {
            node,
            group,
            index: AtomicUsize::new(NO_INDEX),
            source: inner.waitable().describe(),
            runs: RunState::default(),
            is_known_slow: AtomicBool::new(false),
            is_failing: AtomicBool::new(false),
            malformed: AtomicU64::new(0),
            failures: Mutex::default(),
            inner: Mutex::new(inner),
        }
    }

    /// Locks the source and the closure. Blocks while the callback runs.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Box<dyn AnyCallback>> {
        lock(&self.inner)
    }

    /// Locks the source and the closure without blocking; returns `None` while the callback runs.
    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, Box<dyn AnyCallback>>> {
        try_lock(&self.inner)
    }

    /// Runs the callback with one value of its source, if there is a value.
    pub(crate) fn run(&self) -> RunOutcome {
        match self.running(|inner| inner.run(&self.runs)) {
            Ok(outcome) => {
                self.forget_failures();
                outcome
            }
            Err(error) => self.log_error(&error),
        }
    }

    /// Runs the callback with a value that [`Callback::enqueue`] kept.
    pub(crate) fn run_queued(&self, key: EventKey) -> RunOutcome {
        self.running(|inner| inner.run_queued(key, &self.runs))
    }

    /// Takes the oldest value of the source and keeps it for a later run; `number` becomes a part of the value's key.
    /// If there is no value, returns the outcome that a run would have.
    pub(crate) fn enqueue(&self, number: u64) -> Result<KeptEvent, RunOutcome> {
        if self.is_removed() {
            return Err(RunOutcome::Nothing);
        }
        let kept = self.lock().enqueue(number); // the lock ends here
        let kept = kept.map_err(|error| self.log_error(&error))?;
        self.forget_failures();
        kept.ok_or(RunOutcome::Nothing)
    }

    fn running<R>(&self, run: impl FnOnce(&mut dyn AnyCallback) -> R) -> R {
        let _end = RunEnd(self); // dropped after the lock
        let mut inner = self.lock();
        run(&mut **inner)
    }

    /// Prevents further runs of the callback, and drops its closure and source: now, or at the end of the run that is
    /// under way.
    fn remove(&self) {
        if self.runs.remove() {
            // The closure does not run any more, so the lock is free soon: another thread that reads the source
            // holds it for some microseconds only.
            self.drop_closure();
        }
    }

    fn drop_closure(&self) {
        let removed = std::mem::replace(&mut *self.lock(), Box::new(RemovedCallback));
        drop(removed); // after the lock: it may own anything
    }

    /// The full name of the callback's node, for the log; empty if the node is gone.
    pub(crate) fn node_name(&self) -> String {
        self.node.upgrade().map_or_else(String::new, |node| node.node_name.clone())
    }

    /// Whether the callback may have a value to run with; can be called on any thread. Returns `false` while the
    /// callback is locked, for example during its run.
    pub(crate) fn has_work(&self) -> bool {
        self.try_lock().is_some_and(|mut inner| inner.has_work())
    }

    /// Whether the callback was added to this node.
    pub(crate) fn is_of(&self, node: &Arc<Callbacks>) -> bool {
        std::ptr::eq(self.node.as_ptr(), Arc::as_ptr(node))
    }

    /// Logs an error of the source, because no caller can receive it. A lasting error is logged once, although the
    /// take is repeated. Of malformed samples, the first, the tenth, the hundredth and so on are logged.
    fn log_error(&self, error: &Error) -> RunOutcome {
        let say = |nth| log::error(&self.node_name(), format_args!("a callback got nothing: {error}{}", Nth(nth)));
        if matches!(error, Error::Malformed { .. }) {
            let count = self.malformed.fetch_add(1, Relaxed) + 1; // a number of its own
            if is_logged(count) {
                say(count);
            }
            return RunOutcome::Skipped;
        }
        let engine = if let Error::Engine(error) = error { Some(discriminant(error)) } else { None };
        let (failure, mut failures) = ((discriminant(error), engine), lock(&self.failures));
        if !failures.contains(&failure) {
            failures.push(failure);
            drop(failures); // the log may be anyone's code
            say(1);
        }
        self.is_failing.store(true, Relaxed);
        RunOutcome::Failed
    }

    /// Forgets earlier failures, because the source works again: its next error is logged.
    fn forget_failures(&self) {
        if self.is_failing.load(Relaxed) {
            self.is_failing.store(false, Relaxed);
            lock(&self.failures).clear();
        }
    }

    /// Whether a slow run of the callback was logged before.
    pub(crate) fn is_known_slow(&self) -> bool {
        self.is_known_slow.load(Relaxed)
    }

    /// Notes that a slow run is logged; `false` if a slow run was logged before.
    pub(crate) fn set_known_slow(&self) -> bool {
        !self.is_known_slow.swap(true, Relaxed)
    }

    /// The time at which the newest run began, CLOCK_MONOTONIC_COARSE. To be called on the thread that runs
    /// the callback.
    pub(crate) fn began_ns(&self) -> u64 {
        self.runs.began_ns()
    }

    /// The time at which the present run began; `None` if the callback does not run. May be called on any thread.
    pub(crate) fn running_since_ns(&self) -> Option<u64> {
        self.runs.running_since_ns()
    }

    /// Whether an executor has it.
    pub(crate) fn is_registered(&self) -> bool {
        self.index.load(Acquire) != NO_INDEX // partner: the executor that lets it go
    }

    pub(crate) fn is_removed(&self) -> bool {
        self.runs.is_removed()
    }
}

impl Drop for RunEnd<'_> {
    fn drop(&mut self) {
        if self.0.runs.is_left_to_run() {
            self.0.drop_closure();
        }
    }
}

#[cfg(test)]
mod tests;
