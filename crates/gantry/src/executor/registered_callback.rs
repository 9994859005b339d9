//! A callback as the executor that has it sees it. Used by `turn`.

use super::wake_signal::Told;
use crate::callback::Callback;
use gantry_shm::{Attachment, Collector};
use std::{
    sync::{Arc, Weak, atomic::Ordering::Relaxed},
    task::Wake,
};

/// The place of a callback that is not here any more.
pub(super) const NOWHERE: usize = usize::MAX;

/// A callback of a node that is here.
pub(crate) struct Member {
    pub(crate) callback: Arc<Callback>,
    pub(super) attachment: Option<Attachment>,
    pub(super) is_timed: bool,
    /// What it has may be dropped.
    pub(super) is_lossy: bool,
    pub(super) is_marked: bool,
    /// Runs on some thread, where nobody may wait for its mutex.
    pub(super) is_running: bool,
    /// There was news since its run began: that may find nothing, and have looked before.
    pub(super) has_news: bool,
}

impl Member {
    pub(super) fn attach(callback: Arc<Callback>, told: &Arc<Told>, collector: &mut Collector) -> Member {
        let tell = Tell { told: told.clone(), callback: Arc::downgrade(&callback) };
        let mut body = callback.body();
        let waitable = body.waitable();
        waitable.set_waker(Some(Arc::new(tell).into()));
        // One of another domain's node: the callback was added when no executor, whose domain it must be, was known.
        let attachment = waitable.subscription().and_then(|subscription| match collector.attach(subscription) {
            Ok(attachment) => Some(attachment),
            Err(error) => {
                tracing::error!(%error, "a callback will not be run");
                None
            }
        });
        let (is_timed, is_lossy) = (waitable.is_timed(), waitable.is_lossy());
        drop(body);
        Member { callback, attachment, is_timed, is_lossy, is_marked: false, is_running: false, has_news: false }
    }

    pub(super) fn detach(self, collector: &mut Collector) {
        self.callback.place.store(NOWHERE, Relaxed);
        // One that runs just now may wait for another of this executor; its waker is of no use to anybody, and does no harm.
        if let Some(mut body) = self.callback.try_body() {
            body.waitable().set_waker(None);
            body.give_back();
        }
        self.attachment.into_iter().for_each(|attachment| collector.detach(attachment));
    }
}

/// The waker of a callback's source.
struct Tell {
    told: Arc<Told>,
    callback: Weak<Callback>,
}

impl Wake for Tell {
    fn wake(self: Arc<Tell>) {
        if let Some(callback) = self.callback.upgrade() {
            callback.tell();
            self.told.tell();
        }
    }
}
