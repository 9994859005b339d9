//! Callbacks: a closure and the source that it takes from, without their types, so that executors can run any.
//!
//! A node keeps its callbacks. At most one thread at a time runs a callback: the executor sees to it, so the mutex is
//! uncontended.

mod callback_group;
mod group;

pub(crate) use callback_group::Callbacks;
pub use callback_group::{CallbackGroup, CallbackHandle};
pub use group::CallbackGroupType;

use crate::{
    error::{Error, Result},
    log,
    time::monotonic_ns,
    wait::{TakeSource, Waitable, lock},
};
use group::Group;
use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, TryLockError,
        atomic::{AtomicBool, AtomicUsize, Ordering::*},
    },
};

/// A callback of a node.
pub(crate) struct Callback {
    pub(crate) group: Arc<Group>,
    /// Its index in the executor that has it. W, R: that executor, under its lock if it has one.
    pub(crate) index: AtomicUsize,
    /// There is news that is neither a sample nor the time.
    is_notified: AtomicBool,
    removed: AtomicBool,
    inner: Mutex<Box<dyn AnyCallback>>,
}

/// The outcome of an attempt to run or to enqueue a callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunOutcome {
    /// The callback ran; its source may have more.
    More,
    /// The callback ran; its source has nothing more.
    Last,
    /// The source had nothing.
    Nothing,
    /// The message was malformed, which was logged, or the kept value is no longer valid; the source may have more.
    Skipped,
    /// Taking failed, which was logged; the executor tries again later.
    Failed,
}

/// A callback without the type of its source.
pub(crate) trait AnyCallback: Send {
    /// The source.
    fn waitable(&mut self) -> &mut dyn Waitable;
    /// Takes one value and calls the closure with it.
    fn run(&mut self) -> Result<RunOutcome>;
    /// Takes one value and keeps it; returns the time at which the value came into being, and `None` if there is none.
    fn enqueue(&mut self) -> Result<Option<u64>>;
    /// Calls the closure with the oldest kept value, if that is still valid.
    fn run_queued(&mut self) -> RunOutcome;
    /// Drops the oldest kept value, or the newest.
    fn discard(&mut self, oldest: bool);
    /// Makes the kept values the next ones to be taken.
    fn return_queued(&mut self);
}

struct TypedCallback<W: TakeSource, F> {
    waitable: W,
    callback: F,
    /// Values that the executor keeps until it runs them.
    queue: VecDeque<W::Taken>,
    /// Values that an executor kept and did not run: they are taken first.
    returned: VecDeque<W::Taken>,
}

impl<W: TakeSource, F> TypedCallback<W, F> {
    /// The next value. `is_ready` joins new publishers, which `take_next` does not wait for and no bell announces; it
    /// is also cheap where several topics share a bit of the collector.
    fn take(&mut self) -> Result<Option<W::Taken>> {
        let mut returned = std::iter::from_fn(|| self.returned.pop_front());
        if let Some(taken) = returned.find(|taken| self.waitable.is_current(taken)) {
            return Ok(Some(taken));
        }
        if self.waitable.is_ready()? { self.waitable.take_next() } else { Ok(None) }
    }

    /// The outcome of a run. An error counts as more: the next take returns it.
    fn after_run(&mut self) -> RunOutcome {
        let is_over = self.returned.is_empty() && self.waitable.is_ready().is_ok_and(|is_ready| !is_ready);
        if is_over { RunOutcome::Last } else { RunOutcome::More }
    }
}

impl<W, F> AnyCallback for TypedCallback<W, F>
where
    W: TakeSource,
    W::Taken: Send,
    F: FnMut(&mut W, W::Taken) + Send,
{
    fn waitable(&mut self) -> &mut dyn Waitable {
        &mut self.waitable
    }

    fn run(&mut self) -> Result<RunOutcome> {
        let Some(taken) = self.take()? else { return Ok(RunOutcome::Nothing) };
        (self.callback)(&mut self.waitable, taken);
        Ok(self.after_run())
    }

    fn enqueue(&mut self) -> Result<Option<u64>> {
        let Some(taken) = self.take()? else { return Ok(None) };
        let time_ns = self.waitable.time_ns(&taken).unwrap_or_else(monotonic_ns);
        self.queue.push_back(taken);
        Ok(Some(time_ns))
    }

    fn run_queued(&mut self) -> RunOutcome {
        match self.queue.pop_front() {
            Some(taken) if self.waitable.is_current(&taken) => (self.callback)(&mut self.waitable, taken),
            _ => return RunOutcome::Skipped,
        }
        self.after_run()
    }

    fn discard(&mut self, oldest: bool) {
        if oldest {
            self.queue.pop_front()
        } else {
            self.queue.pop_back()
        };
    }

    fn return_queued(&mut self) {
        self.queue.append(&mut self.returned);
        std::mem::swap(&mut self.queue, &mut self.returned);
    }
}

impl Callback {
    pub(crate) fn new<W>(
        group: Arc<Group>,
        waitable: W,
        callback: impl FnMut(&mut W, W::Taken) + Send + 'static,
    ) -> Callback
    where
        W: TakeSource + 'static,
        W::Taken: Send,
    {
        let inner = Box::new(TypedCallback { waitable, callback, queue: VecDeque::new(), returned: VecDeque::new() });
        Callback {
            group,
            index: AtomicUsize::new(0),
            is_notified: AtomicBool::new(false),
            removed: AtomicBool::new(false),
            inner: Mutex::new(inner),
        }
    }

    /// The source and the closure. Blocks while the callback runs.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Box<dyn AnyCallback>> {
        lock(&self.inner)
    }

    /// As [`Callback::lock`]; `None` while the callback runs.
    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, Box<dyn AnyCallback>>> {
        match self.inner.try_lock() {
            Ok(inner) => Some(inner),
            Err(TryLockError::Poisoned(inner)) => Some(inner.into_inner()), // it panicked once
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Runs the callback for one value, if there is one.
    pub(crate) fn run(&self) -> RunOutcome {
        if self.is_removed() {
            return RunOutcome::Nothing;
        }
        self.lock().run().unwrap_or_else(|error| log_error(&error))
    }

    /// Takes one value, keeps it for a later run and returns the time at which it came into being; else says why there is
    /// none.
    pub(crate) fn enqueue(&self) -> std::result::Result<u64, RunOutcome> {
        if self.is_removed() {
            return Err(RunOutcome::Nothing);
        }
        self.lock().enqueue().map_err(|error| log_error(&error))?.ok_or(RunOutcome::Nothing)
    }

    /// Sets the flag that [`Callback::take_notified`] reads.
    pub(crate) fn notify(&self) {
        self.is_notified.store(true, Release);
    }

    /// Whether the callback was notified since the last call.
    pub(crate) fn take_notified(&self) -> bool {
        self.is_notified.swap(false, Acquire)
    }

    /// Keeps the callback from running again.
    pub(crate) fn remove(&self) {
        self.removed.store(true, Release);
    }

    pub(crate) fn is_removed(&self) -> bool {
        self.removed.load(Acquire)
    }
}

/// Logs an error of a source: no caller can receive it.
fn log_error(error: &Error) -> RunOutcome {
    log::error("", format_args!("a callback got nothing: {error}"));
    if matches!(error, Error::Malformed { .. }) { RunOutcome::Skipped } else { RunOutcome::Failed }
}
