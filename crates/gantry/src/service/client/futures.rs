//! The futures of a client: one waits for the outcome of a request, the other for a matched server. Both also end at a
//! shutdown.

use super::request_tracker::{Outcome, RequestTracker};
use crate::{context::ShutdownWaker, error::Result, topic::GenericPublisher};
use std::{
    pin::Pin,
    task::{Context, Poll, Waker},
};

/// A future of the outcome of one request. Dropping the future gives up the request.
pub(super) struct OutcomeFuture<'a> {
    tracker: &'a mut RequestTracker,
    sequence: u64,
    at_shutdown: ShutdownWaker,
}

/// A future that is ready when a server is matched.
pub(super) struct ServiceFuture<'a> {
    pub(super) tracker: &'a mut RequestTracker,
    pub(super) requests: &'a mut GenericPublisher,
    pub(super) at_shutdown: ShutdownWaker,
}

impl RequestTracker {
    /// Returns a future of the outcome of one request.
    pub(super) fn outcome(&mut self, sequence: u64) -> OutcomeFuture<'_> {
        OutcomeFuture { tracker: self, sequence, at_shutdown: ShutdownWaker::default() }
    }

    /// Polls the outcome of one request.
    pub(super) fn poll_outcome(&mut self, sequence: u64, waker: &Waker) -> Poll<Result<Outcome>> {
        let mut outcome = self.outcome_of(sequence)?;
        if outcome.is_none() {
            self.responses.set_waker(Some(waker.clone()))?;
            outcome = self.outcome_of(sequence)?; // again: a server that left before `set_waker` calls no waker
        }
        outcome.map_or(Poll::Pending, |outcome| Poll::Ready(Ok(outcome)))
    }

    /// Polls for a matched server. Outcomes of requests may arrive during the call.
    pub(super) fn poll_service(&mut self, requests: &mut GenericPublisher, waker: &Waker) -> Poll<Result<()>> {
        if !self.has_server(requests)? {
            self.responses.set_waker(Some(waker.clone()))?;
            if !self.has_server(requests)? {
                if self.responses.publishers().next().is_some() {
                    waker.wake_by_ref(); // the server's other endpoint follows at once, but calls no waker
                }
                return Poll::Pending;
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Removes the waker, so that no task is woken any more.
    pub(super) fn remove_waker(&mut self) {
        // An error is ignored: the call fails only in a forked child, which has no control thread.
        let _ = self.responses.set_waker(None);
    }
}

impl Future for OutcomeFuture<'_> {
    type Output = Result<Outcome>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let OutcomeFuture { tracker, sequence, at_shutdown } = &mut *self;
        let polled = tracker.poll_outcome(*sequence, context.waker());
        if polled.is_pending() && at_shutdown.ends(context.waker()) {
            return Poll::Ready(Err(tracker.shut_down(*sequence)));
        }
        polled
    }
}

impl Drop for OutcomeFuture<'_> {
    fn drop(&mut self) {
        self.tracker.remove_waker();
        self.tracker.give_up(self.sequence);
    }
}

impl Future for ServiceFuture<'_> {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let ServiceFuture { tracker, requests, at_shutdown } = &mut *self;
        let polled = tracker.poll_service(requests, context.waker());
        if polled.is_pending() && at_shutdown.ends(context.waker()) {
            return Poll::Ready(Err(tracker.wait_shut_down()));
        }
        polled
    }
}

impl Drop for ServiceFuture<'_> {
    fn drop(&mut self) {
        self.tracker.remove_waker();
    }
}
