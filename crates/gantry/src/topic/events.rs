//! What happens to publishers and subscriptions besides messages, as wait sets, executors and futures take it.
//!
//! A thin layer over the engine's events, whose control thread finds out and tells a [`Waker`].

use crate::{
    error::Result,
    wait::{TakeFuture, TakeSource, WaitSource, Waitable},
};
use gantry_shm::{PublisherEvent, SubscriptionEvent};
use std::task::Waker;

/// The events of one publisher or subscription, from when this was made: [`PublisherEvents`] and [`SubscriptionEvents`]. It may be
/// used on any thread, and outlive what it is about: nothing more happens to that then.
///
/// Several things of one kind that happened since the last look are one event, whose counts tell how many. Deadlines and leases
/// are looked at when they are due, whoever waits, but not more often than once a millisecond.
///
/// # Real-time
/// All of it is control path: it locks, and may allocate and make system calls.
#[derive(Debug)]
pub struct Events<E: 'static> {
    engine: gantry_shm::Events<E>,
}

/// What happens to a publisher: [`Publisher::events`](crate::Publisher::events).
pub type PublisherEvents = Events<PublisherEvent>;

/// What happens to a subscription: [`Subscription::events`](crate::Subscription::events).
pub type SubscriptionEvents = Events<SubscriptionEvent>;

impl<E> Events<E> {
    pub(crate) fn new(engine: gantry_shm::Events<E>) -> Events<E> {
        Events { engine }
    }

    /// The next event; `None` if nothing happened since the last.
    ///
    /// # Errors
    /// Other processes' endpoints cannot be read; the process forked.
    ///
    /// # Real-time
    /// Control path: locks, and may allocate and make system calls.
    pub fn take(&mut self) -> Result<Option<E>> {
        Ok(self.engine.take()?)
    }

    /// The next event, when there is one, on any async runtime.
    ///
    /// # Errors
    /// As [`Events::take`].
    ///
    /// # Real-time
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
        // Not in a forked child, where taking says why.
        let _ = self.engine.set_waker(waker);
    }
}

impl<E> TakeSource for Events<E> {
    type Taken = E;

    fn take_next(&mut self) -> Result<Option<E>> {
        self.take()
    }
}
