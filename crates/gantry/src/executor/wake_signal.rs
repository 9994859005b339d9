//! The signal that wakes an executor from any thread of its process: to stop, or for news that no publisher's bell
//! announces.

use crate::{context, wait::lock};
use gantry_shm::Bell;
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::*},
    },
    task::Wake,
};

/// Flags and bell of an executor.
#[derive(Debug, Default)]
pub(crate) struct WakeSignal {
    /// A callback was notified, or the callbacks of a node changed.
    is_notified: AtomicBool,
    is_canceled: AtomicBool,
    /// The bell on which the executor sleeps, while it has a node.
    bell: Mutex<Option<Bell>>,
}

impl WakeSignal {
    pub(crate) fn cancel(&self) {
        self.is_canceled.store(true, Release);
        self.wake_executor();
    }

    /// Whether a spin must end: after a cancel, and for ever after a shutdown, whose ring wakes all executors.
    pub(crate) fn is_canceled(&self) -> bool {
        self.is_canceled.load(Acquire) || context::is_shut_down()
    }

    /// Ends the effect of a cancel: the next spin is not canceled.
    pub(crate) fn reset_cancel(&self) {
        self.is_canceled.store(false, Relaxed);
    }

    /// Ends the executor's sleep.
    pub(crate) fn wake_executor(&self) {
        self.is_notified.store(true, Release);
        if let Some(bell) = &*lock(&self.bell) {
            bell.ring();
        }
    }

    /// Sets the bell, or removes it.
    pub(super) fn set_bell(&self, bell: Option<Bell>) {
        *lock(&self.bell) = bell;
    }

    /// Whether there was a notification since the last call.
    pub(crate) fn take_notified(&self) -> bool {
        self.is_notified.load(Relaxed) && self.is_notified.swap(false, Acquire)
    }

    /// Whether a sleep must end. A cancel ends it even if another gathering took its notification before the cancel was
    /// seen.
    pub(crate) fn should_wake(&self) -> bool {
        self.is_notified.load(Acquire) || self.is_canceled()
    }
}

impl Wake for WakeSignal {
    fn wake(self: Arc<WakeSignal>) {
        self.wake_executor();
    }
}
