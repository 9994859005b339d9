//! What an executor is told from anywhere in its process: to stop, or that there is something new that no publisher rings for.

use gantry_shm::Bell;
use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::*},
    },
    task::Wake,
};

/// What an executor is told from anywhere.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// There is something new here.
    is_news: AtomicBool,
    is_canceled: AtomicBool,
    /// While there is a node.
    bell: Mutex<Option<Bell>>,
}

impl Told {
    pub(crate) fn cancel(&self) {
        self.is_canceled.store(true, Release);
        self.tell();
    }

    /// Whether it was canceled.
    pub(crate) fn is_canceled(&self) -> bool {
        self.is_canceled.load(Acquire)
    }

    /// The spin ends: the next is not canceled.
    pub(crate) fn forget_cancel(&self) {
        self.is_canceled.store(false, Relaxed);
    }

    /// Ends a rest.
    pub(crate) fn tell(&self) {
        self.is_news.store(true, Release);
        if let Some(bell) = &*self.bell() {
            bell.ring();
        }
    }

    pub(super) fn bell(&self) -> MutexGuard<'_, Option<Bell>> {
        self.bell.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is something new since the last time.
    pub(crate) fn take_news(&self) -> bool {
        self.is_news.load(Relaxed) && self.is_news.swap(false, Acquire)
    }

    /// Whether there is something that a rest must end for. A cancel is, though its news may have been taken before anybody looked
    /// whether it was one.
    pub(crate) fn is_news(&self) -> bool {
        self.is_news.load(Acquire) || self.is_canceled()
    }
}

impl Wake for Told {
    fn wake(self: Arc<Told>) {
        self.tell();
    }
}
