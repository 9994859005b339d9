//! A callback, with the state that its executor keeps for the callback.

use crate::{
    callback::{Callback, NO_INDEX},
    executor::wake_signal::{CallbackWaker, WakeSignal},
    log,
};
use gantry_shm::{Attachment, Collector};
use std::{
    cmp::Reverse,
    sync::{
        Arc,
        atomic::Ordering::{Relaxed, Release},
    },
};

/// A callback that is registered with an executor.
pub(crate) struct RegisteredCallback {
    pub(crate) callback: Arc<Callback>,
    pub(in crate::executor) attachment: Option<Attachment>,
    pub(in crate::executor) is_timed: bool,
    /// The time (CLOCK_MONOTONIC) at which the callback becomes ready without news or, after its source failed, the
    /// time of the next try.
    pub(in crate::executor) due_ns: Option<u64>,
    /// The index of the callback's lane. The callbacks of a mutually exclusive group share a lane; each callback of a
    /// reentrant group has its own. Callbacks of one lane never run at the same time.
    pub(in crate::executor) lane: usize,
    /// The rank of the callback's priority among the priorities of all callbacks; 0 is the highest.
    pub(in crate::executor) level: usize,
    /// Whether values of the callback may be dropped when the executor's queue is full.
    pub(in crate::executor) is_lossy: bool,
    pub(in crate::executor) is_pending: bool,
    /// Whether the callback runs on a thread. No other thread may then wait for the callback's mutex.
    pub(in crate::executor) is_running: bool,
    /// Whether the callback is released at the end of its run, because its node or group left the executor or the
    /// callback was removed.
    pub(in crate::executor) is_leaving: bool,
    /// Whether the executor's queue was emptied during the callback's run, so that kept values must be put back after
    /// the run.
    pub(in crate::executor) has_orphans: bool,
    /// Whether news came during the run, perhaps after the run had checked its source and found nothing.
    pub(in crate::executor) has_news: bool,
}

impl RegisteredCallback {
    pub(in crate::executor) fn attach(
        callback: Arc<Callback>,
        signal: &Arc<WakeSignal>,
        collector: &mut Collector,
    ) -> RegisteredCallback {
        let waker = CallbackWaker::new(signal, &callback);
        let mut inner = callback.lock();
        inner.return_queued(); // the callback may still keep values for an earlier executor
        let waitable = inner.waitable();
        waitable.set_waker(Some(Arc::new(waker).into()));
        // The attachment fails for a subscription of another domain, if the callback was added before the executor's
        // domain was known.
        let attached = waitable.subscription().map(|subscription| collector.attach(subscription)).transpose();
        let say =
            |error: &_| log::error(&callback.node_name(), format_args!("the executor cannot run a callback: {error}"));
        let attached = attached.inspect_err(say);
        let (is_timed, is_lossy) = (waitable.is_timed(), waitable.is_lossy());
        drop(inner);
        RegisteredCallback {
            callback,
            attachment: attached.unwrap_or_default(),
            is_timed,
            due_ns: None,
            lane: 0,
            level: 0,
            is_lossy,
            is_pending: false,
            is_running: false,
            is_leaving: false,
            has_orphans: false,
            has_news: false,
        }
    }

    /// The sort key of the priority: callbacks of higher priority run first.
    pub(in crate::executor) fn priority(&self) -> Reverse<i32> {
        Reverse(self.callback.group.priority())
    }

    /// Makes the callback pending because it may have news. If other topics share the callback's bit, checks its source
    /// first. Returns `false` if a run in the callback's group is under way after which the source is checked anyway.
    /// Until the end of that run, further news of this callback need not be reported.
    pub(in crate::executor) fn set_pending(&mut self, ready: &mut [Vec<usize>], index: usize, is_shared: bool) -> bool {
        if self.is_running {
            return !std::mem::replace(&mut self.has_news, true);
        }
        if self.is_pending {
            return !self.callback.group.is_busy.load(Relaxed);
        }
        if !is_shared || self.may_be_ready() {
            self.is_pending = true;
            ready[self.level].push(index);
        }
        true
    }

    fn may_be_ready(&self) -> bool {
        let mut inner = self.callback.lock();
        inner.waitable().subscription().is_none_or(|subscription| subscription.may_be_ready())
    }

    /// Releases the callback from the executor. Returns its handle, which may be the last one.
    pub(in crate::executor) fn detach(self, collector: &mut Collector) -> Arc<Callback> {
        // `try_lock`, because a running callback may wait for another callback of this executor. The waker of a running
        // callback stays set, which is harmless.
        if let Some(mut inner) = self.callback.try_lock() {
            inner.waitable().set_waker(None);
            inner.return_queued();
        }
        self.attachment.into_iter().for_each(|attachment| collector.detach(attachment));
        // Partner: `Callback::is_registered`. From now on, another executor may take the callback.
        self.callback.index.store(NO_INDEX, Release);
        self.callback
    }
}
