//! Taking as a future: for those who live on an async runtime, whichever it is.
//!
//! Made by `Subscription::take_async` and its likes. It costs a hop over this process's control thread, which an executor does not.

use super::waitable::TakeSource;
use crate::error::Result;
use std::{
    pin::Pin,
    task::{Context, Poll},
};

/// The next thing, when there is one. Dropping it loses nothing.
///
/// # Real-time
/// Not for real-time threads: each wait costs locks, system calls and a hop over the control thread.
#[derive(Debug)]
#[must_use = "a future does nothing unless it is awaited"]
pub struct TakeFuture<'a, W: TakeSource> {
    source: &'a mut W,
}

impl<'a, W: TakeSource> TakeFuture<'a, W> {
    /// Of a source that has no times of its own: nobody would wake the task at them.
    pub(crate) fn new(source: &'a mut W) -> TakeFuture<'a, W> {
        TakeFuture { source }
    }
}

impl<W: TakeSource> Future for TakeFuture<'_, W> {
    type Output = Result<W::Taken>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<W::Taken>> {
        let source = &mut *self.source;
        if let Some(taken) = source.take_next()? {
            return Poll::Ready(Ok(taken));
        }
        source.set_waker(Some(context.waker().clone()));
        if let Some(subscription) = source.subscription() {
            subscription.set_waker(Some(context.waker().clone()))?; // wakes at once if there is something by now
        }
        // What came before that wakes nobody: a client's server that is gone is no sample.
        source.take_next()?.map_or(Poll::Pending, |taken| Poll::Ready(Ok(taken)))
    }
}

impl<W: TakeSource> Drop for TakeFuture<'_, W> {
    fn drop(&mut self) {
        self.source.set_waker(None);
        if let Some(subscription) = self.source.subscription() {
            // It fails in a forked child only, where nobody wakes anybody.
            let _ = subscription.set_waker(None);
        }
    }
}
