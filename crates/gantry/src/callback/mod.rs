//! A callback is a closure with the source of its values. The types of the closure and the source are erased, so that
//! executors can run any callback.
//!
//! A node keeps its callbacks. The executor ensures that at most one thread at a time runs a callback. So a run finds
//! the callback's mutex free, except while another thread accesses the source.

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

/// The index of a callback that is not registered with an executor.
pub(crate) const NO_INDEX: usize = usize::MAX;

/// A callback of a node.
pub(crate) struct Callback {
    /// The node's list of callbacks.
    node: Weak<Callbacks>,
    pub(crate) group: Arc<Group>,
    /// The callback's index in its executor, or [`NO_INDEX`]. Only that executor accesses the index, under its lock if
    /// it has one.
    pub(crate) index: AtomicUsize,
    /// The description of the source for log messages. It is stored here so that it can be read while the callback is
    /// locked.
    pub(crate) source: String,
    runs: RunState,
    /// Whether a slow run of the callback was logged.
    is_known_slow: AtomicBool,
    is_failing: AtomicBool,
    /// The number of malformed samples from the source.
    malformed: AtomicU64,
    /// The kinds of errors of the source that were logged since its last success.
    failures: Mutex<Vec<Failure>>,
    inner: Mutex<Box<dyn AnyCallback>>,
}

/// A guard that marks the end of a run, even by a panic. If the callback was removed during the run, the guard drops
/// the closure.
struct RunEnd<'a>(&'a Callback);

/// The kind of an error: its variant and, for an error of the engine, also the engine's variant.
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
    /// If no value can be kept, returns the outcome that [`Callback::run`] would have returned.
    pub(crate) fn enqueue(&self, number: u64) -> Result<KeptEvent, RunOutcome> {
        if self.is_removed() {
            return Err(RunOutcome::Nothing);
        }
        let kept = self.lock().enqueue(number); // unlocks at the end of this line
        let kept = kept.map_err(|error| self.log_error(&error))?;
        self.forget_failures();
        kept.ok_or(RunOutcome::Nothing)
    }

    fn running<R>(&self, run: impl FnOnce(&mut dyn AnyCallback) -> R) -> R {
        let _end = RunEnd(self); // dropped after `inner`, when the callback is unlocked
        let mut inner = self.lock();
        run(&mut **inner)
    }

    /// Prevents further runs of the callback, and drops its closure and source. If the callback runs now, they are
    /// dropped at the end of the run.
    fn remove(&self) {
        if self.runs.remove() {
            // The closure does not run any more, so only a thread that accesses the source can still hold the lock.
            self.drop_closure();
        }
    }

    fn drop_closure(&self) {
        let removed = std::mem::replace(&mut *self.lock(), Box::new(RemovedCallback));
        drop(removed); // dropped after the unlock: the drop may run user code
    }

    /// The full name of the callback's node, for the log; empty if the node is gone.
    pub(crate) fn node_name(&self) -> String {
        self.node.upgrade().map_or_else(String::new, |node| node.node_name.clone())
    }

    /// Whether the callback may have a value to run with. Any thread may call this method. Returns `false` while the
    /// callback is locked, for example during its run.
    pub(crate) fn has_work(&self) -> bool {
        self.try_lock().is_some_and(|mut inner| inner.has_work())
    }

    /// Whether the callback was added to this node.
    pub(crate) fn is_of(&self, node: &Arc<Callbacks>) -> bool {
        std::ptr::eq(self.node.as_ptr(), Arc::as_ptr(node))
    }

    /// Logs an error of the source, because no caller can receive it. An error that repeats is logged once. Of
    /// malformed samples, the first, the tenth, the hundredth and so on are logged.
    fn log_error(&self, error: &Error) -> RunOutcome {
        let say = |nth| {
            log::error(
                &self.node_name(),
                format_args!("a callback was not called, because its source failed: {error}{}", Nth(nth)),
            )
        };
        if matches!(error, Error::Malformed { .. }) {
            let count = self.malformed.fetch_add(1, Relaxed) + 1; // each malformed sample has a different number
            if is_logged(count) {
                say(count);
            }
            return RunOutcome::Skipped;
        }
        let engine = if let Error::Engine(error) = error { Some(discriminant(error)) } else { None };
        let (failure, mut failures) = ((discriminant(error), engine), lock(&self.failures));
        if !failures.contains(&failure) {
            failures.push(failure);
            drop(failures); // unlocks first: the log may run user code (a `tracing` subscriber)
            say(1);
        }
        self.is_failing.store(true, Relaxed);
        RunOutcome::Failed
    }

    /// Forgets earlier failures because the source works again, so that its next error is logged.
    fn forget_failures(&self) {
        if self.is_failing.load(Relaxed) {
            self.is_failing.store(false, Relaxed);
            lock(&self.failures).clear();
        }
    }

    /// Whether a slow run of the callback was logged.
    pub(crate) fn is_known_slow(&self) -> bool {
        self.is_known_slow.load(Relaxed)
    }

    /// Records that a slow run is logged. Returns `false` if an earlier slow run was logged.
    pub(crate) fn set_known_slow(&self) -> bool {
        !self.is_known_slow.swap(true, Relaxed)
    }

    /// The start time of the newest run, CLOCK_MONOTONIC_COARSE. Only the thread that runs the callback may call this
    /// method.
    pub(crate) fn began_ns(&self) -> u64 {
        self.runs.began_ns()
    }

    /// The start time of the current run; `None` if the callback does not run. Any thread may call this method.
    pub(crate) fn running_since_ns(&self) -> Option<u64> {
        self.runs.running_since_ns()
    }

    /// Whether the callback is registered with an executor.
    pub(crate) fn is_registered(&self) -> bool {
        self.index.load(Acquire) != NO_INDEX // partner: the store in `RegisteredCallback::detach`
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
