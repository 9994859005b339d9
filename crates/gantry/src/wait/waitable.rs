//! What can be waited for, and what is taken when it is there.
//!
//! Used by wait sets, executors and futures; implemented by whatever has something to take: subscriptions, timers, services,
//! clients, events. News comes in three ways: a sample (its publisher rings), the time, or anything else (a [`Waker`]).

use crate::error::Result;
use std::task::Waker;

/// What a wait set, an executor or a future can wait for. Implemented in this crate only.
pub trait Waitable: Send {
    /// Whether there is something to take. Control path where publishers came or went; else a look.
    ///
    /// # Errors
    /// As taking from it.
    fn is_ready(&mut self) -> Result<bool>;

    /// The subscription whose publishers ring, if samples are what it waits for.
    #[doc(hidden)]
    fn subscription(&mut self) -> Option<&mut gantry_shm::Subscription> {
        None
    }

    /// When it becomes ready by itself, CLOCK_MONOTONIC in ns.
    #[doc(hidden)]
    fn due_ns(&mut self) -> Option<u64> {
        None
    }

    /// Whether it ever becomes ready by itself: then it is asked when, before each sleep.
    #[doc(hidden)]
    fn is_timed(&self) -> bool {
        false
    }

    /// Whether what it has may be lost where there is no room, and counted, as topics do.
    #[doc(hidden)]
    fn is_lossy(&self) -> bool {
        false
    }

    /// Who is told of news that is neither a sample nor the time.
    #[doc(hidden)]
    fn set_waker(&mut self, _waker: Option<Waker>) {}
}

/// A [`Waitable`] from which one thing after the other is taken, as a callback gets it.
pub trait TakeSource: Waitable {
    /// What is taken.
    type Taken;

    /// The next thing; `None` if there is none now.
    ///
    /// # Errors
    /// As the type's own method to take.
    fn take_next(&mut self) -> Result<Option<Self::Taken>>;

    /// When it came into being, CLOCK_MONOTONIC in ns; `None`: when it is taken.
    #[doc(hidden)]
    fn time_ns(&self, _taken: &Self::Taken) -> Option<u64> {
        None
    }

    /// Whether what was taken, and kept for a callback, is still to be given to it: a timer may have been canceled.
    #[doc(hidden)]
    fn is_current(&self, _taken: &Self::Taken) -> bool {
        true
    }
}
