//! The futures of a client: the outcome of one request, and the match with a server.

use super::request_tracker::{Outcome, RequestTracker};
use crate::{error::Result, topic::GenericPublisher};
use std::{
    pin::Pin,
    task::{Context, Poll, Waker},
};

/// The outcome of one request. Dropping the future gives up the request.
pub(super) struct OutcomeFuture<'a> {
    pub(super) tracker: &'a mut RequestTracker,
    pub(super) sequence: u64,
}

/// The match with a server.
pub(super) struct ServiceFuture<'a> {
    pub(super) tracker: &'a mut RequestTracker,
    pub(super) requests: &'a mut GenericPublisher,
}

impl RequestTracker {
    /// Polls the outcome of one request.
    pub(super) fn poll_outcome(&mut self, sequence: u64, waker: &Waker) -> Poll<Result<Outcome>> {
        let mut outcome = self.outcome_of(sequence)?;
        if outcome.is_none() {
            self.responses.set_waker(Some(waker.clone()))?;
            outcome = self.outcome_of(sequence)?; // a server that left before that calls no waker
        }
        outcome.map_or(Poll::Pending, |outcome| Poll::Ready(Ok(outcome)))
    }

    /// Polls the match with a server. Outcomes of requests may arrive meanwhile.
    pub(super) fn poll_service(&mut self, requests: &mut GenericPublisher, waker: &Waker) -> Poll<Result<()>> {
        if !self.has_server(requests)? {
            self.responses.set_waker(Some(waker.clone()))?;
            if !self.has_server(requests)? {
                if self.responses.publishers().next().is_some() {
                    waker.wake_by_ref(); // the other half of the server comes at once, and calls no waker
                }
                return Poll::Pending;
            }
        }
        Poll::Ready(Ok(()))
    }

    /// No task is woken any more.
    pub(super) fn remove_waker(&mut self) {
        // It fails in a forked child only, which has no control thread.
        let _ = self.responses.set_waker(None);
    }
}

impl Future for OutcomeFuture<'_> {
    type Output = Result<Outcome>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let sequence = self.sequence;
        self.tracker.poll_outcome(sequence, context.waker())
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
        let this = &mut *self;
        this.tracker.poll_service(this.requests, context.waker())
    }
}

impl Drop for ServiceFuture<'_> {
    fn drop(&mut self) {
        self.tracker.remove_waker();
    }
}
