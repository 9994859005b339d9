//! What happens to a publisher or a subscription besides samples: who matched, who did not and why, what promise was broken.
//!
//! Each handle has a monitor, which the control thread keeps up to date and which tells a [`Waker`]. Publishers and subscriptions
//! know nothing of it: what it sees are endpoints, records, and words in publishers' headers. Control path, with a lock of its own.

pub(crate) mod deadline;
pub(crate) mod incompatible;
pub(crate) mod lease;
pub(crate) mod matched;

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

/// What events are about.
pub(crate) trait EventSource<E>: Send {
    /// Brings its counts up to date.
    fn look(&mut self, domain: &Domain, now_ns: u64) -> Result<()>;
    /// When to look again for the sake of time alone, CLOCK_MONOTONIC.
    fn due_ns(&self) -> Option<u64>;
    /// Whether there is an event that was not told.
    fn has_news(&self) -> bool;
    /// The next event; it is told by that.
    fn tell(&mut self) -> Option<E>;
}

/// The events of one publisher or subscription, from when this was made: those that are matched then count as news. It may be
/// used on any thread, and outlive what it is about: nothing more happens to that then.
///
/// Several things of one kind that happened since the last look are one event, whose counts tell how many.
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
    subject: Box<dyn EventSource<E>>,
    /// Who is told of news.
    waker: Option<Waker>,
    /// It was, since there was last nothing to tell.
    is_announced: bool,
}

impl<E> Events<E> {
    /// Joins and leaves of `side` on `topic` are what changes the subject.
    pub(crate) fn new(
        participant: &Arc<Participant>,
        topic: TopicIndex,
        side: Side,
        subject: impl EventSource<E> + 'static,
    ) -> Result<Events<E>> {
        participant.domain.epoch.check()?;
        let state = Mutex::new(State { subject: Box::new(subject), waker: None, is_announced: false });
        let events = Events { participant: participant.clone(), monitor: Arc::new(Monitor { topic, side, state }) };
        participant.register(&events.monitor);
        drop(events.look()?);
        participant.wake_control(); // it did not know of it when it went to sleep
        Ok(events)
    }

    /// The next event; `None` if nothing happened since the last.
    ///
    /// # Errors
    /// Other processes' endpoints cannot be read; the process forked.
    pub fn take(&mut self) -> Result<Option<E>> {
        let mut state = self.look()?;
        let event = state.subject.tell();
        state.is_announced &= state.subject.has_news();
        Ok(event)
    }

    /// Whether there is an event to take.
    ///
    /// # Errors
    /// As [`Events::take`].
    pub fn is_ready(&mut self) -> Result<bool> {
        Ok(self.look()?.subject.has_news())
    }

    /// Wakes `waker` when there is an event to take, at once if there is now, and again for each that comes after the last was
    /// taken. `None`: nobody is waked any more.
    ///
    /// # Errors
    /// As [`Events::take`].
    pub fn set_waker(&mut self, waker: Option<Waker>) -> Result<()> {
        let mut state = self.look()?;
        (state.waker, state.is_announced) = (waker, false);
        self.monitor.announce(state);
        Ok(())
    }

    fn look(&self) -> Result<MutexGuard<'_, State<E>>> {
        let domain = &self.participant.domain;
        domain.epoch.check()?; // before the lock: the control thread may have held it at the fork
        let mut state = self.monitor.state();
        state.subject.look(domain, monotonic_ns())?;
        Ok(state)
    }
}

impl<E> Monitor<E> {
    fn state(&self) -> MutexGuard<'_, State<E>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes who waits if there is something to tell.
    fn announce(&self, mut state: MutexGuard<'_, State<E>>) {
        if state.subject.has_news() && !std::mem::replace(&mut state.is_announced, true) {
            let waker = state.waker.clone();
            drop(state); // whoever wakes up may take
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
        // What fails is tried again the next time, and said to who takes.
        let _ = state.subject.look(domain, monotonic_ns());
        self.announce(state);
    }

    fn due_ns(&self) -> Option<u64> {
        self.state().subject.due_ns()
    }
}

impl<E> Drop for Events<E> {
    fn drop(&mut self) {
        if self.participant.domain.epoch.is_current() {
            let waker = self.monitor.state().waker.take();
            drop(waker); // who may own us, so not while it is locked
        }
    }
}

impl<E> fmt::Debug for Events<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Events({:?}, {:?})", self.monitor.topic, self.monitor.side)
    }
}

/// The earlier of two times, if there are any.
pub(crate) fn earlier(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one.into_iter().chain(other).min()
}

/// How much a count grew since it was told, if it did; it is told by that.
pub(crate) fn advance(told: &mut u64, count: u64) -> Option<u64> {
    let change = count - std::mem::replace(told, count);
    (change > 0).then_some(change)
}

/// How a count that goes up and down changed.
pub(crate) fn difference(count: u64, told: u64) -> i64 {
    count as i64 - told as i64
}
