//! A request whose response an async task waits for.

use super::{Client, Response};
use crate::error::Result;
use gantry_cdr::Service as ServiceType;
use std::{
    pin::Pin,
    task::{Context, Poll},
};

/// Dropping it gives up the request.
pub(super) struct Awaited<'a, S: ServiceType> {
    pub(super) client: &'a mut Client<S>,
    pub(super) sequence: u64,
}

impl<S: ServiceType> Future for Awaited<'_, S> {
    type Output = Result<Response<S>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let (sequence, client) = (self.sequence, &mut *self.client);
        let mut outcome = client.outcome_of(sequence)?;
        if outcome.is_none() {
            client.responses.set_waker(Some(context.waker().clone()))?;
            outcome = client.outcome_of(sequence)?; // whoever went before that wakes nobody
        }
        outcome.map_or(Poll::Pending, |outcome| Poll::Ready(client.response(outcome)))
    }
}

impl<S: ServiceType> Drop for Awaited<'_, S> {
    fn drop(&mut self) {
        // In a forked child there is no waker to take back.
        let _ = self.client.responses.set_waker(None);
        self.client.give_up(self.sequence);
    }
}
