//! A callback with what it waits for, whatever their types: what executors run.
//!
//! Made by `callback_group`, kept by its node, run by at most one thread at a time: an executor sees to that, and a mutex that nobody
//! else holds makes it so.

mod callback_group;
mod group;

pub(crate) use callback_group::Callbacks;
pub use callback_group::{CallbackGroup, CallbackHandle};
pub use group::CallbackGroupType;

use crate::{
    error::{Error, Result},
    wait::{TakeSource, Waitable},
};
use group::Group;
use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, TryLockError,
        atomic::{AtomicBool, AtomicUsize, Ordering::*},
    },
};

/// A callback of a node.
pub(crate) struct Callback {
    pub(crate) group: Arc<Group>,
    /// Its place in the executor that has it. W, R: that, under its lock if it has one.
    pub(crate) place: AtomicUsize,
    /// Told of news that is neither a sample nor the time.
    is_told: AtomicBool,
    removed: AtomicBool,
    body: Mutex<Box<dyn Body>>,
}

/// What taking something for a callback came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ran {
    /// It ran, or what was taken is kept; there may be more.
    Once,
    /// It ran, and there is nothing more.
    Last,
    /// There was nothing to take.
    Nothing,
    /// What came is no message, which was logged, or is not to be given to anybody any more; there may be more.
    PassedOver,
    /// Taking failed, which was logged; to be tried again later.
    Failed,
}

/// What is done with a callback, whatever it waits for.
pub(crate) trait Body: Send {
    /// What it waits for.
    fn waitable(&mut self) -> &mut dyn Waitable;
    /// Takes one thing and gives it to the callback.
    fn run(&mut self) -> Result<Ran>;
    /// Takes one thing and keeps it; says when it came into being, if it knows.
    fn enqueue(&mut self) -> Result<Option<Option<u64>>>;
    /// Gives the oldest thing that it kept to the callback, unless that was called off.
    fn run_queued(&mut self) -> Ran;
    /// Drops the oldest thing that it kept, or the newest.
    fn discard(&mut self, oldest: bool);
    /// Leaves what it kept to be taken again.
    fn give_back(&mut self);
}

struct Typed<W: TakeSource, F> {
    waitable: W,
    callback: F,
    /// Kept, and to be run when the executor says so.
    queue: VecDeque<W::Taken>,
    /// Was kept for an executor that has the callback no more: comes before anything else.
    returned: VecDeque<W::Taken>,
}

impl<W: TakeSource, F> Typed<W, F> {
    /// The next thing. The look before joins publishers that came, for which taking does not wait, and nobody would ring when they
    /// are; and it is cheap where several topics share a bit of the collector.
    fn take(&mut self) -> Result<Option<W::Taken>> {
        let mut returned = std::iter::from_fn(|| self.returned.pop_front());
        if let Some(taken) = returned.find(|taken| self.waitable.is_current(taken)) {
            return Ok(Some(taken));
        }
        if self.waitable.is_ready()? { self.waitable.take_next() } else { Ok(None) }
    }

    /// What a run comes to. What fails now does so again when it is taken from.
    fn after_run(&mut self) -> Ran {
        let is_over = self.returned.is_empty() && self.waitable.is_ready().is_ok_and(|is_ready| !is_ready);
        if is_over { Ran::Last } else { Ran::Once }
    }
}

impl<W, F> Body for Typed<W, F>
where
    W: TakeSource,
    W::Taken: Send,
    F: FnMut(&mut W, W::Taken) + Send,
{
    fn waitable(&mut self) -> &mut dyn Waitable {
        &mut self.waitable
    }

    fn run(&mut self) -> Result<Ran> {
        let Some(taken) = self.take()? else { return Ok(Ran::Nothing) };
        (self.callback)(&mut self.waitable, taken);
        Ok(self.after_run())
    }

    fn enqueue(&mut self) -> Result<Option<Option<u64>>> {
        let Some(taken) = self.take()? else { return Ok(None) };
        let time_ns = self.waitable.time_ns(&taken);
        self.queue.push_back(taken);
        Ok(Some(time_ns))
    }

    fn run_queued(&mut self) -> Ran {
        match self.queue.pop_front() {
            Some(taken) if self.waitable.is_current(&taken) => (self.callback)(&mut self.waitable, taken),
            _ => return Ran::PassedOver,
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

    fn give_back(&mut self) {
        self.queue.append(&mut self.returned);
        std::mem::swap(&mut self.queue, &mut self.returned);
    }
}

impl Ran {
    /// Whether the callback ran.
    pub(crate) fn has_run(self) -> bool {
        matches!(self, Ran::Once | Ran::Last)
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
        let body = Box::new(Typed { waitable, callback, queue: VecDeque::new(), returned: VecDeque::new() });
        let place = AtomicUsize::new(0);
        Callback {
            group,
            place,
            is_told: AtomicBool::new(false),
            removed: AtomicBool::new(false),
            body: Mutex::new(body),
        }
    }

    /// What it waits for, and the callback. Waits while it runs.
    pub(crate) fn body(&self) -> MutexGuard<'_, Box<dyn Body>> {
        self.body.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same, unless it runs.
    pub(crate) fn try_body(&self) -> Option<MutexGuard<'_, Box<dyn Body>>> {
        match self.body.try_lock() {
            Ok(body) => Some(body),
            Err(TryLockError::Poisoned(body)) => Some(body.into_inner()), // it panicked once
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Runs it for one thing, if there is one.
    pub(crate) fn run(&self) -> Ran {
        if self.is_removed() {
            return Ran::Nothing;
        }
        self.body().run().unwrap_or_else(|error| log(&error))
    }

    /// Takes one thing and keeps it, to be run later; with when it came into being, if it knows.
    pub(crate) fn enqueue(&self) -> (Ran, Option<u64>) {
        if self.is_removed() {
            return (Ran::Nothing, None);
        }
        match self.body().enqueue() {
            Ok(Some(time_ns)) => (Ran::Once, time_ns),
            Ok(None) => (Ran::Nothing, None),
            Err(error) => (log(&error), None),
        }
    }

    /// There is news for it.
    pub(crate) fn tell(&self) {
        self.is_told.store(true, Release);
    }

    /// Whether there was since the last time.
    pub(crate) fn was_told(&self) -> bool {
        self.is_told.swap(false, Acquire)
    }

    /// Lets it never run again.
    pub(crate) fn remove(&self) {
        self.removed.store(true, Release);
    }

    pub(crate) fn is_removed(&self) -> bool {
        self.removed.load(Acquire)
    }
}

/// There is nobody to return it to.
fn log(error: &Error) -> Ran {
    tracing::error!(%error, "a callback got nothing");
    if matches!(error, Error::Malformed { .. }) { Ran::PassedOver } else { Ran::Failed }
}
