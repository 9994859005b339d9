//! Wakes a thread in `rmw_wait` when a guard condition or an event becomes ready.

use gantry::Bell;
use std::{
    ptr::{from_ref, null_mut},
    sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::*},
    thread::{sleep, yield_now},
    time::Duration,
};

/// The part that a wait set owns: flags ring it.
#[derive(Debug)]
pub struct WakeUp {
    has_news: AtomicBool,
    bell: Bell,
}

impl WakeUp {
    /// Creates a wake-up. `bell` is the futex on which the thread of the wait set sleeps.
    pub fn new(bell: Bell) -> WakeUp {
        WakeUp { has_news: AtomicBool::new(false), bell }
    }

    /// True if a flag rang since the last [`WakeUp::reset`].
    pub fn has_news(&self) -> bool {
        self.has_news.load(Acquire) // partner: `ring`
    }

    /// Clears earlier rings. A caller that reads its flags after this call sees each flag that was set before those
    /// rings.
    pub fn reset(&self) {
        self.has_news.swap(false, AcqRel); // partner: `ring`
    }

    fn ring(&self) {
        // Partners: `has_news`, `reset`. `Bell::ring` orders this store before its check for a sleeping thread.
        self.has_news.store(true, Release);
        self.bell.ring();
    }
}

/// The flag of a guard condition or an event, with the wake-up of the wait set that attached it last. Setting a flag
/// takes no lock and does not allocate, so a signal handler may set it.
#[derive(Debug, Default)]
pub struct Flag {
    is_set: AtomicBool,
    /// Null, or a pointer to a wake-up that lives until [`Flag::detach`] has returned.
    wake_up: AtomicPtr<WakeUp>,
    /// The number of threads that are inside [`Flag::ring`] now.
    ringing: AtomicUsize,
}

impl Flag {
    /// Sets the flag, and wakes the wait set that attached it last.
    pub fn set(&self) {
        self.mark();
        self.ring();
    }

    /// Sets the flag without waking. The caller calls [`Flag::ring`] next.
    pub fn mark(&self) {
        // SeqCst, like the load of `wake_up` in `ring`. So either `ring` loads the wake-up that `attach` stored, or the
        // wait set, which checks the flag after `attach`, sees this store.
        self.is_set.store(true, SeqCst); // partner: `is_set`, `take`
    }

    /// Whether it is set.
    pub fn is_set(&self) -> bool {
        self.is_set.load(SeqCst) // partner: `set`
    }

    /// Clears the flag. Returns true if the flag was set.
    pub fn take(&self) -> bool {
        self.is_set() && self.is_set.swap(false, AcqRel)
    }

    /// Wakes the wait set.
    pub fn ring(&self) {
        self.ringing.fetch_add(1, SeqCst); // counted before the load: partner `detach`
        let wake_up = self.wake_up.load(SeqCst);
        // SAFETY: the pointer is null or was attached at the time of the load. `detach` removes the pointer, then waits
        // until no thread is in `ring`, and only then may the wake-up be dropped. This thread counted itself before its
        // load, so `detach` waits for it, or the thread did not load that pointer.
        if let Some(wake_up) = unsafe { wake_up.as_ref() } {
            wake_up.ring();
        }
        self.ringing.fetch_sub(1, Release); // partner: `detach`; this thread uses the wake-up no more
    }

    /// Attaches a wait set, which the flag wakes from now on. The caller checks the flag after this call. A previously
    /// attached wait set is woken a last time, so that it notices the change.
    ///
    /// # Safety
    /// `wake_up` lives until [`Flag::detach`] has returned.
    pub unsafe fn attach(&self, wake_up: &WakeUp) {
        if !self.is_attached(wake_up) {
            self.ring();
            self.wake_up.store(from_ref(wake_up).cast_mut(), SeqCst);
        }
    }

    /// True if this wait set is attached to the flag.
    pub fn is_attached(&self, wake_up: &WakeUp) -> bool {
        self.wake_up.load(SeqCst) == from_ref(wake_up).cast_mut()
    }

    /// Detaches a wait set: the flag does not use `wake_up` after this call.
    pub fn detach(&self, wake_up: &WakeUp) {
        let attached = from_ref(wake_up).cast_mut();
        // A thread may still ring `wake_up` if another wake-up is attached by now.
        let _ = self.wake_up.compare_exchange(attached, null_mut(), SeqCst, SeqCst);
        // The wait is short, because a thread in `ring` makes at most one system call. A signal handler that
        // interrupted this thread in `ring` has returned by now. The sleep gives the CPU to a ringing thread with a
        // lower real-time priority.
        let mut looks = 0;
        while self.ringing.load(SeqCst) > 0 {
            looks += 1;
            if looks < 100 { yield_now() } else { sleep(Duration::from_micros(50)) }
        }
    }
}
