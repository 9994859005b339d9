//! The traits of sources: subscriptions, timers, services, clients, events.
//!
//! A source gets news in three ways: a sample (its publisher rings), the time, or a call of its [`Waker`].

use crate::error::Result;
use std::task::Waker;

/// The part of a [`Waitable`] that wait sets, futures and executors use. It is not exported, which seals `Waitable`.
pub trait WaitSource: Send {
    /// The subscription whose publishers ring the bell of the waiter, if the source waits for samples.
    fn subscription(&mut self) -> Option<&mut gantry_shm::Subscription> {
        None
    }

    /// The time at which the source becomes ready although no news comes, CLOCK_MONOTONIC in ns.
    fn due_ns(&mut self) -> Option<u64> {
        None
    }

    /// The name of the source as a part of a sentence: "topic /image".
    fn describe(&mut self) -> String {
        let topic = self.subscription().map(|subscription| &subscription.description().topic);
        topic.map_or_else(|| "an event".to_owned(), |topic| format!("topic {topic}"))
    }

    /// Whether the source can become ready by time: then `due_ns` is called before each sleep.
    fn is_timed(&self) -> bool {
        false
    }

    /// Whether a queue that has no room may drop and count values of this source; true for samples.
    fn is_lossy(&self) -> bool {
        false
    }
}

/// A source that a wait set, an executor or a future can wait for. The trait is sealed: only this crate implements it.
pub trait Waitable: WaitSource {
    /// Whether there is something to take. On the control path if publishers came or went; otherwise it
    /// costs a few loads.
    ///
    /// # Errors
    /// As a take from this source.
    fn is_ready(&mut self) -> Result<bool> {
        Ok(self.subscription().map_or(Ok(false), gantry_shm::Subscription::is_ready)?)
    }

    /// Sets the waker that is called for news that is neither a sample nor the time; `None` removes it. If the source
    /// has such news already, the waker is called at once, on this thread: the caller must hold no lock that the waker
    /// takes.
    fn set_waker(&mut self, _waker: Option<Waker>) {}
}

/// A [`Waitable`] from which values are taken one by one; a callback is called with each value.
pub trait TakeSource: Waitable {
    /// The type of a value.
    type Taken;

    /// Takes the next value; returns `None` if no value waits.
    ///
    /// # Errors
    /// As the take method of the implementing type, such as [`Subscription::take`](crate::Subscription::take).
    fn take_next(&mut self) -> Result<Option<Self::Taken>>;

    /// The memory that the value occupies, for a queue that limits the memory of its values.
    fn size_bytes(&self, _taken: &Self::Taken) -> usize {
        0
    }

    /// The time at which the value was made, CLOCK_MONOTONIC in ns; `None` means the time at which it is taken.
    fn time_ns(&self, _taken: &Self::Taken) -> Option<u64> {
        None
    }

    /// Whether a kept value is still valid for its callback: a timer may have been canceled meanwhile.
    fn is_current(&self, _taken: &Self::Taken) -> bool {
        true
    }
}
