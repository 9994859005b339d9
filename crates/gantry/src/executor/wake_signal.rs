//! The signal with which any thread of the process wakes an executor: to end its spin, or for news that does not come
//! from a publisher. The signal lists the callbacks with such news, so that the executor need not check all callbacks.

use crate::{callback::Callback, context, wait::lock};
use gantry_shm::Bell;
use std::{
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicBool, AtomicUsize, Ordering::*},
    },
    task::Wake,
};

/// The flags and the bell of an executor.
#[derive(Debug, Default)]
pub(crate) struct WakeSignal {
    /// Whether a callback was notified, or the callbacks of a node changed.
    is_notified: AtomicBool,
    /// Whether the callbacks of a node changed. Only then does the executor compare the versions of all nodes, which
    /// may be thousands.
    are_nodes_changed: AtomicBool,
    is_canceled: AtomicBool,
    /// The number of threads that run callbacks; it is 0 between spins.
    threads: AtomicUsize,
    /// The number of times that the executor has gathered ready callbacks. Only the executor writes it, under its lock
    /// if it has one.
    gatherings: AtomicUsize,
    /// The callbacks that were notified since the last gathering, each callback once.
    notified: Mutex<Vec<Arc<CallbackWaker>>>,
    /// The bell on which the executor sleeps; `None` while the executor has no node.
    bell: Mutex<Option<Bell>>,
}

impl WakeSignal {
    pub(crate) fn cancel(&self) {
        self.is_canceled.store(true, Release);
        self.wake_executor();
    }

    /// Whether a spin must end, because of a cancel or a shutdown. A shutdown rings the bells of all executors.
    pub(crate) fn is_canceled(&self) -> bool {
        self.is_canceled.load(Acquire) || context::is_shut_down()
    }

    /// Clears the cancel, so that it does not end the next spin.
    pub(crate) fn reset_cancel(&self) {
        self.is_canceled.store(false, Relaxed);
    }

    pub(crate) fn is_spinning(&self) -> bool {
        self.threads() > 0
    }

    pub(super) fn gatherings(&self) -> usize {
        self.gatherings.load(Relaxed)
    }

    pub(super) fn count_gathering(&self) {
        self.gatherings.store(self.gatherings().wrapping_add(1), Relaxed);
    }

    pub(super) fn threads(&self) -> usize {
        self.threads.load(Relaxed)
    }

    pub(super) fn set_threads(&self, threads: usize) {
        self.threads.store(threads, Relaxed);
    }

    /// Ends the executor's sleep.
    pub(crate) fn wake_executor(&self) {
        self.is_notified.store(true, Release);
        if let Some(bell) = &*lock(&self.bell) {
            bell.ring();
        }
    }

    /// Wakes every sleeping thread of the executor.
    pub(super) fn wake_all_threads(&self) {
        self.is_notified.store(true, Release);
        if let Some(bell) = &*lock(&self.bell) {
            bell.ring_all();
        }
    }

    /// Adds a callback that has news to the list of notified callbacks, and wakes the executor.
    pub(super) fn notify(&self, waker: Arc<CallbackWaker>) {
        lock(&self.notified).push(waker);
        self.wake_executor();
    }

    /// The callbacks that were notified since the last call; empty if there was no notification.
    pub(super) fn take_notified(&self) -> Vec<Arc<CallbackWaker>> {
        // The flag is cleared before the list is taken: a callback that is added later sets the flag again.
        if self.is_notified.load(Relaxed) && self.is_notified.swap(false, Acquire) {
            std::mem::take(&mut *lock(&self.notified))
        } else {
            Vec::new()
        }
    }

    /// Returns whether the callbacks of a node may have changed since the last call.
    pub(super) fn take_nodes_changed(&self) -> bool {
        // Acquire; partner: the store in `wake`, which follows the change of the callbacks. A later change sets the
        // flag again.
        self.are_nodes_changed.load(Relaxed) && self.are_nodes_changed.swap(false, Acquire)
    }

    /// Sets the bell, or removes it.
    pub(super) fn set_bell(&self, bell: Option<Bell>) {
        *lock(&self.bell) = bell;
    }

    /// Whether a sleep must end. The cancel is checked in addition to the notification, because a gathering may have
    /// cleared the cancel's notification.
    pub(crate) fn should_wake(&self) -> bool {
        self.is_notified.load(Acquire) || self.is_canceled()
    }
}

/// A node calls this waker after each change of its callbacks.
impl Wake for WakeSignal {
    fn wake(self: Arc<WakeSignal>) {
        self.are_nodes_changed.store(true, Release);
        self.wake_executor();
    }
}

/// The waker that a callback's source calls.
pub(super) struct CallbackWaker {
    /// The signal to notify. The reference is weak, because the signal keeps wakers in its list.
    signal: Weak<WakeSignal>,
    callback: Weak<Callback>,
    /// Whether this waker is in the list of the signal.
    is_listed: AtomicBool,
}

impl CallbackWaker {
    pub(super) fn new(signal: &Arc<WakeSignal>, callback: &Arc<Callback>) -> CallbackWaker {
        let is_listed = AtomicBool::new(false);
        CallbackWaker { signal: Arc::downgrade(signal), callback: Arc::downgrade(callback), is_listed }
    }

    /// Marks the callback as not listed and returns it; `None` if the callback is gone.
    pub(super) fn take_callback(&self) -> Option<Arc<Callback>> {
        // The mark is cleared before the source is read: later news lists the callback again. AcqRel: this thread sees
        // the news of a `wake` that found the callback listed.
        self.is_listed.swap(false, AcqRel);
        self.callback.upgrade()
    }
}

impl Wake for CallbackWaker {
    fn wake(self: Arc<CallbackWaker>) {
        if !self.is_listed.swap(true, AcqRel)
            && let Some(signal) = self.signal.upgrade()
        {
            signal.notify(self);
        }
    }
}

impl std::fmt::Debug for CallbackWaker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CallbackWaker")
    }
}
