//! Events of publishers and subscriptions besides samples: matches, incompatible endpoints, missed deadlines, lost liveliness.
//!
//! Each handle has a monitor, which the control thread keeps up to date and which wakes a [`Waker`]. Publishers and subscriptions
//! take no part: the monitor reads endpoints, reader records, and words in publishers' headers. Control path, with a lock of its
//! own.

pub(crate) mod deadline;
pub(crate) mod event_counts;
pub(crate) mod lease;

use crate::{
    domain::{Domain, board::TopicIndex, control::ControlTask, participant::Participant},
    error::Result,
    os::clock::monotonic_ns,
    protocol::sleep::Side,
};
use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Waker,
};

/// A publisher or a subscription, as its events see it.
pub(crate) trait EventSource<E>: Send {
    /// Updates its counts.
    fn update(&mut self, domain: &Domain, now_ns: u64) -> Result<()>;
    /// When an update is due because of time alone, CLOCK_MONOTONIC.
    fn due_ns(&self) -> Option<u64>;
    /// Whether there is an event that was not taken.
    fn has_news(&self) -> bool;
    /// Takes the next event.
    fn take_next(&mut self) -> Option<E>;
}

/// The events of one publisher or subscription, since this handle was made: endpoints that are matched at that time are its first
/// events. It may be used on any thread, and may outlive its endpoint, which has no events then.
///
/// Events of one kind that occurred since the last was taken are one event, whose counts say how many.
pub struct Events<E: 'static> {
    participant: Arc<Participant>,
    monitor: Arc<Monitor<E>>,
}

/// Keeps the domain, not the participant: the control thread may be the last to have it.
struct Monitor<E> {
    topic: TopicIndex,
    side: Side,
    state: Mutex<State<E>>,
}

struct State<E> {
    source: Box<dyn EventSource<E>>,
    waker: Option<Waker>,
    /// The waker was woken since there was last no event.
    is_notified: bool,
}

impl<E> Events<E> {
    /// Joins and leaves of `side` on `topic` change the counts of `source`.
    pub(crate) fn new(
        participant: &Arc<Participant>,
        topic: TopicIndex,
        side: Side,
        source: impl EventSource<E> + 'static,
    ) -> Result<Events<E>> {
        participant.domain.epoch.check()?;
        let state = Mutex::new(State { source: Box::new(source), waker: None, is_notified: false });
        let events = Events { participant: participant.clone(), monitor: Arc::new(Monitor { topic, side, state }) };
        participant.register(&events.monitor);
        drop(events.update()?); // for its errors, which the control thread passes over
        participant.wake_control(); // its sleep does not end at the due time of a new task
        Ok(events)
    }

    /// The next event; `None` if there is none since the last.
    ///
    /// # Errors
    /// Other processes' endpoints cannot be read; the process forked.
    pub fn take(&mut self) -> Result<Option<E>> {
        let mut state = self.update()?;
        let event = state.source.take_next();
        state.is_notified &= state.source.has_news();
        Ok(event)
    }

    /// Whether there is an event to take.
    ///
    /// # Errors
    /// As [`Events::take`].
    pub fn is_ready(&mut self) -> Result<bool> {
        Ok(self.update()?.source.has_news())
    }

    /// Wakes `waker` when there is an event to take, at once if there is one now, and again for each that occurs after the last
    /// was taken. `None` ends that.
    ///
    /// # Errors
    /// As [`Events::take`].
    pub fn set_waker(&mut self, waker: Option<Waker>) -> Result<()> {
        let mut state = self.update()?;
        (state.waker, state.is_notified) = (waker, false);
        self.monitor.notify(state);
        Ok(())
    }

    fn update(&self) -> Result<MutexGuard<'_, State<E>>> {
        let domain = &self.participant.domain;
        domain.epoch.check()?; // before the lock: the control thread may have held it at the fork
        let mut state = self.monitor.state();
        state.source.update(domain, monotonic_ns())?;
        Ok(state)
    }
}

impl<E> Monitor<E> {
    fn state(&self) -> MutexGuard<'_, State<E>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the waker if there is an event to take.
    fn notify(&self, mut state: MutexGuard<'_, State<E>>) {
        if state.source.has_news() && !std::mem::replace(&mut state.is_notified, true) {
            let waker = state.waker.clone();
            drop(state); // the waker may take events
            waker.into_iter().for_each(Waker::wake);
        }
    }
}

impl<E> ControlTask for Monitor<E> {
    fn topic(&self) -> TopicIndex {
        self.topic
    }

    fn side(&self) -> Side {
        self.side
    }

    fn update(&self, domain: &Arc<Domain>) {
        let mut state = self.state();
        // A failure is tried again at the next update, and returned by a take.
        let _ = state.source.update(domain, monotonic_ns());
        self.notify(state);
    }

    fn due_ns(&self) -> Option<u64> {
        self.state().source.due_ns()
    }
}

impl<E> Drop for Events<E> {
    fn drop(&mut self) {
        if self.participant.domain.epoch.is_current() {
            let waker = self.monitor.state().waker.take();
            drop(waker); // it may own this handle, so not while the monitor is locked
        }
    }
}

impl<E> fmt::Debug for Events<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Events({:?}, {:?})", self.monitor.topic, self.monitor.side)
    }
}
