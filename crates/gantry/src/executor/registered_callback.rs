//! A callback with the state that its executor keeps for it.

use super::wake_signal::WakeSignal;
use crate::{callback::Callback, log};
use gantry_shm::{Attachment, Collector};
use std::{
    sync::{Arc, Weak, atomic::Ordering::Relaxed},
    task::Wake,
};

/// The index of a callback that no executor has.
pub(super) const NO_INDEX: usize = usize::MAX;

/// A callback of one of the executor's nodes.
pub(crate) struct RegisteredCallback {
    pub(crate) callback: Arc<Callback>,
    pub(super) attachment: Option<Attachment>,
    pub(super) is_timed: bool,
    /// Its values may be dropped.
    pub(super) is_lossy: bool,
    pub(super) is_pending: bool,
    /// It runs on some thread; waiting for its mutex is not allowed then.
    pub(super) is_running: bool,
    /// There was news during the run, which may have looked too early and found nothing.
    pub(super) has_news: bool,
}

impl RegisteredCallback {
    pub(super) fn attach(
        callback: Arc<Callback>,
        signal: &Arc<WakeSignal>,
        collector: &mut Collector,
    ) -> RegisteredCallback {
        let waker = CallbackWaker { signal: signal.clone(), callback: Arc::downgrade(&callback) };
        let mut inner = callback.lock();
        let waitable = inner.waitable();
        waitable.set_waker(Some(Arc::new(waker).into()));
        // It fails for a subscription of another domain: the callback was added before an executor's domain was known.
        let attached = waitable.subscription().map(|subscription| collector.attach(subscription)).transpose();
        let attached =
            attached.inspect_err(|error| log::error("", format_args!("a callback will not be run: {error}")));
        let (is_timed, is_lossy) = (waitable.is_timed(), waitable.is_lossy());
        drop(inner);
        RegisteredCallback {
            callback,
            attachment: attached.unwrap_or_default(),
            is_timed,
            is_lossy,
            is_pending: false,
            is_running: false,
            has_news: false,
        }
    }

    pub(super) fn detach(self, collector: &mut Collector) {
        self.callback.index.store(NO_INDEX, Relaxed);
        // A running callback may wait for another one of this executor. Its waker stays, unused and harmless.
        if let Some(mut inner) = self.callback.try_lock() {
            inner.waitable().set_waker(None);
            inner.return_queued();
        }
        self.attachment.into_iter().for_each(|attachment| collector.detach(attachment));
    }
}

/// The waker that a callback's source gets.
struct CallbackWaker {
    signal: Arc<WakeSignal>,
    callback: Weak<Callback>,
}

impl Wake for CallbackWaker {
    fn wake(self: Arc<CallbackWaker>) {
        if let Some(callback) = self.callback.upgrade() {
            callback.notify();
            self.signal.wake_executor();
        }
    }
}
