//! Callbacks: a closure and the source that it takes from, without their types, so that executors can run any.
//!
//! A node keeps its callbacks. At most one thread at a time runs a callback: the executor sees to it, so the mutex is
//! uncontended.

mod any_callback;
mod callbacks;
mod group;
mod typed_callback;

pub(crate) use any_callback::{EventKey, KeptEvent, RunOutcome, TakeOrder};
pub use callbacks::CallbackHandle;
pub(crate) use callbacks::Callbacks;
pub use group::CallbackGroupType;
pub(crate) use group::Group;

use crate::{
    error::Error,
    log,
    wait::{TakeSource, lock, try_lock},
};
use any_callback::{AnyCallback, RemovedCallback};
use std::{
    mem::{Discriminant, discriminant},
    sync::{
        Arc, Mutex, MutexGuard, Weak,
        atomic::{AtomicBool, AtomicUsize, Ordering::*},
    },
    thread::yield_now,
};
use typed_callback::TypedCallback;

/// The number of tries of a removal while an executor looks at the callback's source, which takes some nanoseconds.
const REMOVAL_TRIES: usize = 1000;

/// A callback of a node.
pub(crate) struct Callback {
    /// The list of its node.
    node: Weak<Callbacks>,
    pub(crate) group: Arc<Group>,
    /// Its index in the executor that has it. W, R: that executor, under its lock if it has one.
    pub(crate) index: AtomicUsize,
    removed: AtomicBool,
    /// The closure runs. SeqCst, as `removed`: of a removal and the end of a run, one sees the other and drops the
    /// closure.
    is_running: AtomicBool,
    /// A slow run was said.
    is_known_slow: AtomicBool,
    is_failing: AtomicBool,
    /// The kinds of errors of its source that were logged since it last worked.
    failures: Mutex<Vec<Failure>>,
    inner: Mutex<Box<dyn AnyCallback>>,
}

/// The kind of an error, and of the engine's error if it is one.
type Failure = (Discriminant<Error>, Option<Discriminant<gantry_shm::Error>>);

impl Callback {
    fn new<W>(
        node: Weak<Callbacks>,
        group: Arc<Group>,
        waitable: W,
        callback: impl FnMut(&mut W, W::Taken) + Send + 'static,
    ) -> Callback
    where
        W: TakeSource + 'static,
        W::Taken: Send,
    {
        let inner = Mutex::new(Box::new(TypedCallback::new(waitable, callback)) as Box<dyn AnyCallback>);
        let [removed, is_running, is_known_slow, is_failing] = [const { AtomicBool::new(false) }; 4];
        Callback {
            node,
            group,
            index: AtomicUsize::new(0),
            removed,
            is_running,
            is_known_slow,
            is_failing,
            failures: Mutex::default(),
            inner,
        }
    }

    /// The source and the closure. Blocks while the callback runs.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Box<dyn AnyCallback>> {
        lock(&self.inner)
    }

    /// As [`Callback::lock`]; `None` while the callback runs.
    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, Box<dyn AnyCallback>>> {
        try_lock(&self.inner)
    }

    /// Runs the callback for one value, if there is one.
    pub(crate) fn run(&self, order: TakeOrder) -> RunOutcome {
        self.running(|inner| {
            inner.run(order).inspect(|_| self.forget_failures()).unwrap_or_else(|error| self.log_error(&error))
        })
    }

    /// Runs the callback for a value that [`Callback::enqueue`] kept.
    pub(crate) fn run_queued(&self, key: EventKey) -> RunOutcome {
        self.running(|inner| inner.run_queued(key))
    }

    /// Takes the oldest value and keeps it for a later run under `number`; else says why there is none.
    pub(crate) fn enqueue(&self, number: u64) -> Result<KeptEvent, RunOutcome> {
        if self.is_removed() {
            return Err(RunOutcome::Nothing);
        }
        let kept = self.lock().enqueue(number).map_err(|error| self.log_error(&error))?;
        self.forget_failures();
        kept.ok_or(RunOutcome::Nothing)
    }

    fn running(&self, run: impl FnOnce(&mut dyn AnyCallback) -> RunOutcome) -> RunOutcome {
        let mut inner = self.lock();
        let outcome = if self.is_removed() {
            RunOutcome::Nothing
        } else {
            let _running = RunningFlag::set(&self.is_running);
            run(&mut **inner)
        };
        // After the flag fell: a removal that saw the flag came before, and is seen here.
        let removed = self.is_removed().then(|| std::mem::replace(&mut *inner, Box::new(RemovedCallback)));
        drop(inner);
        drop(removed); // after the lock: it may own anything
        outcome
    }

    /// Keeps the callback from running again, and drops its closure and source: now, or at the end of the run that is
    /// under way.
    fn remove(&self) {
        self.removed.store(true, SeqCst);
        for _ in 0..REMOVAL_TRIES {
            if let Some(mut inner) = self.try_lock() {
                let removed = std::mem::replace(&mut *inner, Box::new(RemovedCallback));
                drop(inner);
                drop(removed);
                return;
            }
            if self.is_running.load(SeqCst) {
                return;
            }
            yield_now();
        }
    }

    /// The full name of its node, for the log; empty if the node is gone.
    pub(crate) fn node_name(&self) -> String {
        self.node.upgrade().map_or_else(String::new, |node| node.node_name.clone())
    }

    /// Whether it was added to that node.
    pub(crate) fn is_of(&self, node: &Arc<Callbacks>) -> bool {
        std::ptr::eq(self.node.as_ptr(), Arc::as_ptr(node))
    }

    /// Logs an error of the source: no caller can receive it. One that lasts is logged once, though it is tried again.
    fn log_error(&self, error: &Error) -> RunOutcome {
        let say = || log::error(&self.node_name(), format_args!("a callback got nothing: {error}"));
        if matches!(error, Error::Malformed { .. }) {
            say();
            return RunOutcome::Skipped;
        }
        let engine = if let Error::Engine(error) = error { Some(discriminant(error)) } else { None };
        let (failure, mut failures) = ((discriminant(error), engine), lock(&self.failures));
        if !failures.contains(&failure) {
            failures.push(failure);
            drop(failures); // the log may be anyone's code
            say();
        }
        self.is_failing.store(true, Relaxed);
        RunOutcome::Failed
    }

    /// The source works: its next error is logged.
    fn forget_failures(&self) {
        if self.is_failing.load(Relaxed) {
            self.is_failing.store(false, Relaxed);
            lock(&self.failures).clear();
        }
    }

    /// Whether it was asked before.
    pub(crate) fn is_known_slow(&self) -> bool {
        self.is_known_slow.swap(true, Relaxed)
    }

    pub(crate) fn is_removed(&self) -> bool {
        self.removed.load(SeqCst)
    }
}

/// A flag that is set until it is dropped, also by a panic.
struct RunningFlag<'a>(&'a AtomicBool);

impl RunningFlag<'_> {
    fn set(flag: &AtomicBool) -> RunningFlag<'_> {
        flag.store(true, SeqCst);
        RunningFlag(flag)
    }
}

impl Drop for RunningFlag<'_> {
    fn drop(&mut self) {
        self.0.store(false, SeqCst);
    }
}

#[cfg(test)]
mod tests;
