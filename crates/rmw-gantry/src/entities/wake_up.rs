//! The wake-up of a thread in `rmw_wait` by news that are no messages: guard conditions and events.

use gantry::Bell;
use std::{
    hint::spin_loop,
    ptr::null_mut,
    sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::*},
};

/// The side of the wait set: it looks at [`WakeUp::take_news`] before and in its sleep.
#[derive(Debug)]
pub struct WakeUp {
    has_news: AtomicBool,
    bell: Bell,
}

impl WakeUp {
    /// The bell is that on which the thread sleeps.
    pub fn new(bell: Bell) -> WakeUp {
        WakeUp { has_news: AtomicBool::new(false), bell }
    }

    /// Whether a source rang since [`WakeUp::reset`].
    pub fn has_news(&self) -> bool {
        self.has_news.load(Acquire) // partner: `ring`
    }

    /// Forgets earlier rings; the caller looks at its sources after this.
    pub fn reset(&self) {
        self.has_news.store(false, Relaxed); // the sources are attached after this, by SeqCst
    }

    fn ring(&self) {
        self.has_news.store(true, Release); // partner: `has_news`; the bell's fence orders it before the look whether it sleeps
        self.bell.ring();
    }
}

/// The side of a source: the wait set that waits for it now. Ringing takes no lock, so a signal handler may do it.
#[derive(Debug, Default)]
pub struct Attached {
    /// Null, or a wake-up that stays until [`Attached::detach`] returned.
    wake_up: AtomicPtr<WakeUp>,
    /// The number of threads in [`Attached::ring`].
    ringing: AtomicUsize,
}

impl Attached {
    /// Wakes the wait set that waits. The source has stored its news before.
    pub fn ring(&self) {
        self.ringing.fetch_add(1, SeqCst); // before the load: partner `detach`
        let wake_up = self.wake_up.load(SeqCst);
        // SAFETY: null, or a wake-up that was attached when it was loaded. `detach` stores null, then waits until nobody rings;
        //   this thread was counted before its load, so either it loaded null or `detach` waits for it.
        if let Some(wake_up) = unsafe { wake_up.as_ref() } {
            wake_up.ring();
        }
        self.ringing.fetch_sub(1, Release); // partner: `detach`: the use of the wake-up is over
    }

    /// Attaches a wait set; `false` if another one waits for the source, too, which then gets the rings. The caller looks at the
    /// source after this.
    ///
    /// # Safety
    /// `wake_up` stays until [`Attached::detach`] returned.
    pub unsafe fn attach(&self, wake_up: &WakeUp) -> bool {
        let wake_up = std::ptr::from_ref(wake_up).cast_mut();
        self.wake_up.compare_exchange(null_mut(), wake_up, SeqCst, Relaxed).is_ok()
    }

    /// Detaches the wait set that [`Attached::attach`] attached.
    pub fn detach(&self) {
        self.wake_up.store(null_mut(), SeqCst);
        // A ring takes one system call at most; a signal handler that rings on this thread is over when this goes on.
        while self.ringing.load(SeqCst) > 0 {
            spin_loop();
        }
    }
}
