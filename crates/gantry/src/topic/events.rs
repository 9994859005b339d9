//! QoS events of publishers and subscriptions, as sources for wait sets, executors and futures.
//!
//! The engine's control thread finds the events and calls a [`Waker`].

use crate::{
    error::Result,
    wait::{TakeFuture, TakeSource, WaitSource, Waitable},
};
use gantry_shm::{PublisherEvent, SubscriptionEvent};
use std::task::Waker;

/// The QoS events of one publisher or subscription since the handle was made: [`PublisherEvents`] and
/// [`SubscriptionEvents`]. The handle may be used on any thread and may outlive its endpoint, which has no more events
/// then.
///
/// Several events of one kind since the last take are one event with counts. Deadlines and leases are checked when they
/// are due, but at most once a millisecond.
#[derive(Debug)]
pub struct Events<E: 'static> {
    engine: gantry_shm::Events<E>,
}

/// The events of a publisher: [`GenericPublisher::events`](crate::GenericPublisher::events).
pub type PublisherEvents = Events<PublisherEvent>;

/// The events of a subscription: [`GenericSubscription::events`](crate::GenericSubscription::events).
pub type SubscriptionEvents = Events<SubscriptionEvent>;

impl<E> Events<E> {
    pub(crate) fn new(engine: gantry_shm::Events<E>) -> Events<E> {
        Events { engine }
    }

    /// The next event; `None` if there is none now.
    ///
    /// # Errors
    /// Other processes' endpoints cannot be read; the process forked.
    pub fn take(&mut self) -> Result<Option<E>> {
        Ok(self.engine.take()?)
    }

    /// The next event, when there is one, on any async runtime.
    ///
    /// # Errors
    /// As [`Events::take`].
    pub fn take_async(&mut self) -> TakeFuture<'_, Events<E>> {
        TakeFuture::new(self)
    }
}

impl<E> WaitSource for Events<E> {}

impl<E> Waitable for Events<E> {
    fn is_ready(&mut self) -> Result<bool> {
        Ok(self.engine.is_ready()?)
    }

    fn set_waker(&mut self, waker: Option<Waker>) {
        // It fails in a forked child only, where taking returns the error.
        let _ = self.engine.set_waker(waker);
    }
}

impl<E> TakeSource for Events<E> {
    type Taken = E;

    fn take_next(&mut self) -> Result<Option<E>> {
        self.take()
    }
}
