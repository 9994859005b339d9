//! The traits of sources: subscriptions, timers, services, clients and events.
//!
//! A source becomes ready in three ways: a sample arrives (its publisher rings the bell), a due time passes, or the
//! source calls its [`Waker`].

use crate::error::Result;
use std::task::Waker;

/// The methods of a [`Waitable`] that wait sets, futures and executors use. The trait is not exported, which seals
/// `Waitable`.
pub trait WaitSource: Send {
    /// The subscription whose publishers ring the bell of the waiter, if the source waits for samples.
    fn subscription(&mut self) -> Option<&mut gantry_shm::Subscription> {
        None
    }

    /// The time (CLOCK_MONOTONIC, ns) at which the source becomes ready even without news.
    fn due_ns(&mut self) -> Option<u64> {
        None
    }

    /// Describes the source as a part of a sentence: "topic /image".
    fn describe(&mut self) -> String {
        let topic = self.subscription().map(|subscription| &subscription.description().topic);
        topic.map_or_else(|| "an event".to_owned(), |topic| format!("topic {topic}"))
    }

    /// Whether the source can become ready by time alone. If so, `due_ns` is called before each sleep.
    fn is_timed(&self) -> bool {
        false
    }

    /// Whether a full queue may drop values of this source and count them; true for samples.
    fn is_lossy(&self) -> bool {
        false
    }
}

/// A source that a wait set, an executor or a future can wait for. The trait is sealed: only this crate implements it.
pub trait Waitable: WaitSource {
    /// Whether there is something to take. This method is on the control path if publishers came or went; otherwise it
    /// costs a few loads.
    ///
    /// # Errors
    /// The errors of a take from this source.
    fn is_ready(&mut self) -> Result<bool> {
        Ok(self.subscription().map_or(Ok(false), gantry_shm::Subscription::is_ready)?)
    }

    /// Sets the waker that is called for news other than a sample or a due time; `None` removes it. If the source
    /// already has such news, the waker is called at once, on this thread. So the caller must hold no lock that the
    /// waker takes.
    fn set_waker(&mut self, _waker: Option<Waker>) {}
}

/// A [`Waitable`] from which values are taken one by one. A callback is called with each value.
pub trait TakeSource: Waitable {
    /// The type of a value.
    type Taken;

    /// Takes the next value. Returns `None` if there is no value.
    ///
    /// # Errors
    /// The errors of the implementing type's take method, such as [`Subscription::take`](crate::Subscription::take).
    fn take_next(&mut self) -> Result<Option<Self::Taken>>;

    /// The memory that the value occupies, for a queue that limits the memory of its values.
    fn size_bytes(&self, _taken: &Self::Taken) -> usize {
        0
    }

    /// The time (CLOCK_MONOTONIC, ns) at which the value was made; `None` means the time at which it is taken.
    fn time_ns(&self, _taken: &Self::Taken) -> Option<u64> {
        None
    }

    /// Whether a kept value is still valid for its callback. For example, a tick is invalid after its timer was
    /// canceled.
    fn is_current(&self, _taken: &Self::Taken) -> bool {
        true
    }
}
