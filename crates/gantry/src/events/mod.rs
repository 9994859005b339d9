//! Events other than new samples: matches, incompatible endpoints, missed deadlines, lost liveliness and changes of the
//! graph. They are sources for wait sets, executors and futures.
//!
//! Each [`Events`] handle has a monitor. The engine's control thread updates the monitor, and the monitor wakes a
//! [`Waker`]. Publishers and subscriptions do no work for events. The module is on the control path; each monitor has
//! its own lock.

mod counts;
mod deadline;
mod lease;
mod publisher;
mod subscription;

pub(crate) use counts::Count;
pub use publisher::PublisherEvent;
pub(crate) use publisher::PublisherEventSource;
pub use subscription::SubscriptionEvent;
pub(crate) use subscription::SubscriptionEventSource;

use crate::{
    error::Result,
    time::monotonic_ns,
    wait::{TakeFuture, TakeSource, WaitSource, Waitable, lock},
};
use gantry_shm::{Generation, Participant, Role, Watcher};
use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard},
    task::Waker,
};

/// A handle to the QoS events of one publisher or subscription ([`PublisherEvents`], [`SubscriptionEvents`]), or to the
/// changes of the graph ([`GraphChanges`](crate::GraphChanges)). It reports events that occur after its creation. It
/// may be used on any thread. It may outlive its endpoint, and then reports no more events.
///
/// Events of one kind that occur between two takes are merged into one event with counts. Deadlines and leases are
/// checked when they are due, but at most once per millisecond.
pub struct Events<E: 'static> {
    /// The participant whose control thread updates the monitor.
    _participant: Arc<Participant>,
    monitor: Arc<Monitor<E>>,
}

/// The events of a publisher: [`GenericPublisher::events`](crate::GenericPublisher::events).
pub type PublisherEvents = Events<PublisherEvent>;

/// The events of a subscription: [`GenericSubscription::events`](crate::GenericSubscription::events).
pub type SubscriptionEvents = Events<SubscriptionEvent>;

/// A source of events: the state of a publisher, a subscription or the graph that the events report. A source does not
/// keep the participant alive.
pub(crate) trait EventSource<E>: Send {
    /// Updates the counts. `generation` is the topic's counter of joins and leaves of the endpoints that change the
    /// counts; for a publisher's events, these are the subscriptions.
    fn update(&mut self, generation: u64, now_ns: u64) -> Result<()>;
    /// The time (CLOCK_MONOTONIC) of the next update that is needed even if no endpoint joins or leaves.
    fn due_ns(&self) -> Option<u64> {
        None
    }
    /// Whether there is an event that was not taken.
    fn has_news(&self) -> bool;
    /// Takes the next event.
    fn take_next(&mut self) -> Option<E>;
}

/// The part of the events that the control thread updates. A monitor keeps the domain alive but not the participant:
/// the last holder of the monitor may be the participant's own control thread.
struct Monitor<E> {
    generation: Generation,
    state: Mutex<State<E>>,
}

struct State<E> {
    source: Box<dyn EventSource<E>>,
    waker: Option<Waker>,
    /// Whether the waker was called since the last take that left no event.
    is_notified: bool,
}

impl<E> Events<E> {
    /// Makes the events of `source`. The counts of `source` change when endpoints of `role` join or leave `topic`.
    pub(crate) fn new(
        participant: &Arc<Participant>,
        topic: &str,
        role: Role,
        source: impl EventSource<E> + 'static,
    ) -> Result<Events<E>> {
        let state = Mutex::new(State { source: Box::new(source), waker: None, is_notified: false });
        let monitor = participant.watch(topic, role, |generation| Monitor { generation, state })?;
        let events = Events { _participant: participant.clone(), monitor };
        drop(events.update()?); // returns the errors that the control thread would ignore
        Ok(events)
    }

    /// Takes the next event. Returns `None` if there is no event.
    ///
    /// # Errors
    /// The endpoints of other processes cannot be read, or the process forked.
    pub fn take(&mut self) -> Result<Option<E>> {
        let mut state = self.update().inspect_err(|_| self.notify_again())?;
        let event = state.source.take_next();
        state.is_notified &= state.source.has_news();
        Ok(event)
    }

    /// A future of the next event, for any async runtime.
    ///
    /// # Errors
    /// [`Error::ShutDown`](crate::Error::ShutDown), and the errors of [`Events::take`].
    pub fn take_async(&mut self) -> TakeFuture<'_, Events<E>> {
        TakeFuture::new(self)
    }

    /// After a failed take: makes the next update wake the waker again.
    fn notify_again(&self) {
        if self.monitor.generation.get().is_ok() {
            lock(&self.monitor.state).is_notified = false;
        }
    }

    fn update(&self) -> Result<MutexGuard<'_, State<E>>> {
        // The read of the generation detects a fork, so it comes before the lock: the control thread may have held the
        // lock at the fork, which would leave it locked for ever.
        let generation = self.monitor.generation.get()?;
        let mut state = lock(&self.monitor.state);
        state.source.update(generation, monotonic_ns())?;
        Ok(state)
    }
}

impl<E> State<E> {
    /// Wakes the waker if there is an event to take.
    fn notify(mut state: MutexGuard<'_, State<E>>) {
        if state.source.has_news() && !std::mem::replace(&mut state.is_notified, true) {
            let waker = state.waker.clone();
            drop(state); // the waker may take events
            waker.into_iter().for_each(Waker::wake);
        }
    }
}

impl<E: 'static> Watcher for Monitor<E> {
    fn update(&self) {
        let Ok(generation) = self.generation.get() else { return };
        let mut state = lock(&self.state);
        // An update that fails is tried again at the next update, and a take returns the error.
        let _ = state.source.update(generation, monotonic_ns());
        State::notify(state);
    }

    fn due_ns(&self) -> Option<u64> {
        lock(&self.state).source.due_ns()
    }

    fn can_wait(&self) -> bool {
        true // a take also updates the monitor, so this update may come later
    }
}

impl<E> WaitSource for Events<E> {}

impl<E> Waitable for Events<E> {
    fn is_ready(&mut self) -> Result<bool> {
        Ok(self.update()?.source.has_news())
    }

    fn set_waker(&mut self, waker: Option<Waker>) {
        // An error is not reported here, because the next take returns it.
        let Ok(mut state) = self.update() else { return };
        let _before = std::mem::replace(&mut state.waker, waker); // dropped when the monitor is unlocked
        state.is_notified = false;
        State::notify(state);
    }
}

impl<E> TakeSource for Events<E> {
    type Taken = E;

    fn take_next(&mut self) -> Result<Option<E>> {
        self.take()
    }
}

impl<E> Drop for Events<E> {
    fn drop(&mut self) {
        if self.monitor.generation.get().is_ok() {
            let waker = lock(&self.monitor.state).waker.take();
            drop(waker); // the waker may own this handle, so it is dropped when the monitor is not locked
        }
    }
}

impl<E> fmt::Debug for Events<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").finish_non_exhaustive()
    }
}
