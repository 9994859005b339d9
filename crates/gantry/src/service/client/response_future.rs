//! The future of the response to one request.

use super::{Client, Response};
use crate::error::Result;
use gantry_cdr::Service as ServiceType;
use std::{
    pin::Pin,
    task::{Context, Poll},
};

/// The response to one request. Dropping the future gives up the request.
pub(super) struct ResponseFuture<'a, S: ServiceType> {
    pub(super) client: &'a mut Client<S>,
    pub(super) sequence: u64,
}

impl<S: ServiceType> Future for ResponseFuture<'_, S> {
    type Output = Result<Response<S>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let (sequence, client) = (self.sequence, &mut *self.client);
        let mut outcome = client.outcome_of(sequence)?;
        if outcome.is_none() {
            client.responses.set_waker(Some(context.waker().clone()))?;
            outcome = client.outcome_of(sequence)?; // a server that left before that calls no waker
        }
        outcome.map_or(Poll::Pending, |outcome| Poll::Ready(client.response(outcome)))
    }
}

impl<S: ServiceType> Drop for ResponseFuture<'_, S> {
    fn drop(&mut self) {
        // It fails in a forked child only, which has no control thread.
        let _ = self.client.responses.set_waker(None);
        self.client.give_up(self.sequence);
    }
}
