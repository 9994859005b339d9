//! The wake-up of a thread in `rmw_wait` by a guard condition or an event.

use gantry::Bell;
use std::{
    ptr::{from_ref, null_mut},
    sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::*},
    thread::{sleep, yield_now},
    time::Duration,
};

/// The side of the wait set.
#[derive(Debug)]
pub struct WakeUp {
    has_news: AtomicBool,
    bell: Bell,
}

impl WakeUp {
    /// `bell` is the bell on which the thread sleeps.
    pub fn new(bell: Bell) -> WakeUp {
        WakeUp { has_news: AtomicBool::new(false), bell }
    }

    /// Whether a flag rang since [`WakeUp::reset`].
    pub fn has_news(&self) -> bool {
        self.has_news.load(Acquire) // partner: `ring`
    }

    /// Forgets earlier rings. The caller reads its flags after this, and then sees the values that were stored
    /// before those rings.
    pub fn reset(&self) {
        self.has_news.swap(false, AcqRel); // partner: `ring`
    }

    fn ring(&self) {
        // Partner: `has_news`, `reset`. The bell orders this store before its check whether a thread sleeps.
        self.has_news.store(true, Release);
        self.bell.ring();
    }
}

/// The flag of a guard condition or an event, and the wake-up of the wait set that waited for it last. Setting the
/// flag takes no lock and does not allocate, so a signal handler may do it.
#[derive(Debug, Default)]
pub struct Flag {
    is_set: AtomicBool,
    /// Null, or a wake-up that lives until [`Flag::detach`] has returned.
    wake_up: AtomicPtr<WakeUp>,
    /// The number of threads in [`Flag::ring`].
    ringing: AtomicUsize,
}

impl Flag {
    /// Sets the flag, and wakes the wait set.
    pub fn set(&self) {
        self.mark();
        self.ring();
    }

    /// Sets it; [`Flag::ring`] is to follow.
    pub fn mark(&self) {
        // SeqCst, as the load of the wake-up in `ring`: either this thread sees the wake-up that `attach` stored,
        // or the check after `attach` sees this store.
        self.is_set.store(true, SeqCst); // partner: `is_set`, `take`
    }

    /// Whether it is set.
    pub fn is_set(&self) -> bool {
        self.is_set.load(SeqCst) // partner: `set`
    }

    /// Whether the flag was set since it was last taken. The flag is cleared.
    pub fn take(&self) -> bool {
        self.is_set() && self.is_set.swap(false, AcqRel)
    }

    /// Wakes the wait set.
    pub fn ring(&self) {
        self.ringing.fetch_add(1, SeqCst); // before the load: partner `detach`
        let wake_up = self.wake_up.load(SeqCst);
        // SAFETY: the pointer is null, or a wake-up that was attached when it was loaded. Before a wake-up ends,
        // `detach` replaces it and waits until no thread rings. This thread was counted before its load, so either it
        // loaded another wake-up or `detach` waits for this thread.
        if let Some(wake_up) = unsafe { wake_up.as_ref() } {
            wake_up.ring();
        }
        self.ringing.fetch_sub(1, Release); // partner: `detach`: the use of the wake-up is over
    }

    /// Attaches a wait set, which the flag wakes from now on. The caller reads the flag after this. The wait set
    /// that was attached before is woken a last time, so that its wait ends.
    ///
    /// # Safety
    /// `wake_up` lives until [`Flag::detach`] has returned.
    pub unsafe fn attach(&self, wake_up: &WakeUp) {
        if !self.is_attached(wake_up) {
            self.ring();
            self.wake_up.store(from_ref(wake_up).cast_mut(), SeqCst);
        }
    }

    /// Whether this wait set is attached to the flag.
    pub fn is_attached(&self, wake_up: &WakeUp) -> bool {
        self.wake_up.load(SeqCst) == from_ref(wake_up).cast_mut()
    }

    /// Ends the attachment of [`Flag::attach`]: the flag does not use `wake_up` after this.
    pub fn detach(&self, wake_up: &WakeUp) {
        let attached = from_ref(wake_up).cast_mut();
        // If another wake-up is attached by now, the last ring of `wake_up` may still be running.
        let _ = self.wake_up.compare_exchange(attached, null_mut(), SeqCst, SeqCst);
        // The wait is short: a ring takes at most one system call, and a signal handler that rings on this thread has
        // returned when this thread continues. The sleep lets a ringing thread with a lower real-time priority
        // continue.
        let mut looks = 0;
        while self.ringing.load(SeqCst) > 0 {
            looks += 1;
            if looks < 100 { yield_now() } else { sleep(Duration::from_micros(50)) }
        }
    }
}
