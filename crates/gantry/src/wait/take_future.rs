//! The future of a take, for any async runtime. The control thread wakes the task, which costs one more thread switch
//! than in an executor.

use super::waitable::TakeSource;
use crate::{
    context::ShutdownWaker,
    error::{Error, Result},
};
use std::{
    pin::Pin,
    task::{Context, Poll},
};

/// A future of the next value of a source. It returns [`Error::ShutDown`] when the program shuts down. Dropping the
/// future loses no value.
///
/// # Real-time
/// Each wait costs locks, system calls and an additional thread switch to the control thread.
#[derive(Debug)]
#[must_use = "a future does nothing unless it is awaited"]
pub struct TakeFuture<'a, W: TakeSource> {
    source: &'a mut W,
    at_shutdown: ShutdownWaker,
}

impl<'a, W: TakeSource> TakeFuture<'a, W> {
    /// Creates the future of a source. The source must not become ready by time alone, because nothing wakes the future
    /// at a due time.
    pub(crate) fn new(source: &'a mut W) -> TakeFuture<'a, W> {
        TakeFuture { source, at_shutdown: ShutdownWaker::default() }
    }
}

impl<W: TakeSource> Future for TakeFuture<'_, W> {
    type Output = Result<W::Taken>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<W::Taken>> {
        let TakeFuture { source, at_shutdown } = &mut *self;
        if let Some(taken) = source.take_next()? {
            return Poll::Ready(Ok(taken));
        }
        source.set_waker(Some(context.waker().clone()));
        if let Some(subscription) = source.subscription() {
            subscription.set_waker(Some(context.waker().clone()))?; // wakes at once if a sample is already there
        }
        // The take comes after the registration of the waker, because earlier news wakes no task. An example is a
        // client whose server has left: no sample arrives.
        if let Some(taken) = source.take_next()? {
            return Poll::Ready(Ok(taken));
        }
        if at_shutdown.ends(context.waker()) {
            let wait = format!("the wait for news of {}", source.describe());
            return Poll::Ready(Err(Error::ShutDown { what: wait }));
        }
        Poll::Pending
    }
}

impl<W: TakeSource> Drop for TakeFuture<'_, W> {
    fn drop(&mut self) {
        self.source.set_waker(None);
        if let Some(subscription) = self.source.subscription() {
            // An error is ignored: the call fails only in a forked child, which has no control thread.
            let _ = subscription.set_waker(None);
        }
    }
}
