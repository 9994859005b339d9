//! A subscription to bytes with a type that is known at run time, and its samples.
//!
//! For recorders, bridges, bindings and tools; `subscription` is a typed layer over it. The bytes are what another process wrote:
//! nobody checked them.

use super::events::{Events, SubscriptionEvents};
use crate::{
    error::Result,
    node::Presence,
    wait::{TakeFuture, TakeSource, WaitSource, Waitable},
};
use gantry_shm::SampleInfo;
use std::{os::fd::BorrowedFd, sync::Arc, time::Duration};

/// Takes messages as bytes; belongs to one thread at a time.
///
/// A message is a CDR body, as [`GenericPublisher`](crate::GenericPublisher) says.
///
/// # Real-time
/// Making and dropping it is control path; of each method it is said apart.
#[derive(Debug)]
pub struct GenericSubscription {
    engine: gantry_shm::Subscription,
    /// Its node is there as long as it is.
    _presence: Arc<Presence>,
}

/// A taken message, in place. It owns its loan: keep it, send it to another thread, drop it in any order.
///
/// # Real-time
/// Reading and dropping it neither allocates, blocks nor makes system calls, while its subscription exists.
#[derive(Debug)]
pub struct GenericSample(gantry_shm::Sample);

impl GenericSubscription {
    pub(crate) fn new(engine: gantry_shm::Subscription, presence: Arc<Presence>) -> GenericSubscription {
        GenericSubscription { engine, _presence: presence }
    }

    /// The next message, in place; `None` if there is none now. Publishers take turns. What is older than its publisher's
    /// lifespan is passed over.
    ///
    /// # Errors
    /// A publisher whose memory makes no sense (it is then left out for good); the process forked.
    ///
    /// # Real-time
    /// No allocation, lock or system call. When publishers came or went since the last call, or more samples are held than
    /// ever before, lists grow or shrink here; when a publisher's file grew, one system call looks how far.
    #[inline]
    pub fn take(&mut self) -> Result<Option<GenericSample>> {
        Ok(self.engine.take()?.map(GenericSample))
    }

    /// The engine's subscription; something else says then that its node is there.
    pub(crate) fn into_engine(self) -> gantry_shm::Subscription {
        self.engine
    }

    /// Counts a sample that was copied out of its slot.
    pub(crate) fn count_copy(&mut self) {
        self.engine.count_copy();
    }

    /// The next message, in place, when there is one: see [`Subscription::take_async`](crate::Subscription::take_async).
    ///
    /// # Errors
    /// As [`GenericSubscription::take`].
    ///
    /// # Real-time
    /// Not for real-time threads: each wait costs locks, system calls and a hop over the control thread.
    pub fn take_async(&mut self) -> TakeFuture<'_, GenericSubscription> {
        TakeFuture::new(self)
    }

    /// Waits until there is something to take; `false` if there was nothing within `timeout`. A bounded spin (none where
    /// only one CPU is usable), then a futex.
    ///
    /// # Errors
    /// The time is over, no publisher is matched and there is one of another type
    /// ([`EngineError::TypeMismatch`](crate::EngineError::TypeMismatch)); as [`GenericSubscription::take`].
    ///
    /// # Real-time
    /// Not for real-time threads: it sleeps (a bounded spin, then a futex). Who must not looks with [`GenericSubscription::take`].
    pub fn wait(&mut self, timeout: Duration) -> Result<bool> {
        Ok(self.engine.wait(timeout)?)
    }

    /// Whether [`GenericSubscription::wait`] spins before it sleeps: `true` from the start. A spin finds what comes within 20 µs
    /// without a sleep and a wake-up, and costs CPU time if nothing does (so it gets shorter then); without it every wait for something
    /// that is not there yet sleeps at once. Wait sets and executors wait as they do.
    ///
    /// # Real-time
    /// No allocation or lock; system calls and files that tell how many CPUs are usable. Call it before the work begins.
    pub fn set_busy_wait(&mut self, on: bool) {
        self.engine.set_spinning(on);
    }

    /// A descriptor that is readable while there is something to take, for programs that wait in epoll or poll; take until there
    /// is nothing more before waiting on it again. [`GenericSubscription::wait`] is quicker.
    ///
    /// # Errors
    /// No descriptor could be made; the process forked.
    ///
    /// # Real-time
    /// Not for real-time threads: it makes system calls, and while somebody waits on it, so does the take that finds nothing more.
    pub fn descriptor(&mut self) -> Result<BorrowedFd<'_>> {
        Ok(self.engine.descriptor()?)
    }

    /// What happens to the subscription from now on besides messages, on a handle of its own for any thread: publishers that come
    /// and go, or do not fit; deadlines that they missed; their liveliness. What is matched now is the first event.
    ///
    /// # Errors
    /// Other processes' endpoints cannot be read; the process forked.
    ///
    /// # Real-time
    /// Control path: locks, allocates and makes system calls. Taking stays as it is.
    pub fn events(&self) -> Result<SubscriptionEvents> {
        Ok(Events::new(self.engine.events()?))
    }

    /// How many publishers are matched now. Control path.
    ///
    /// # Errors
    /// As [`GenericSubscription::take`].
    ///
    /// # Real-time
    /// Not for real-time threads: it takes locks and makes system calls.
    pub fn publisher_count(&mut self) -> Result<usize> {
        Ok(self.engine.publisher_count()?)
    }

    /// Samples that left the history before they were taken, since the subscription was made.
    ///
    /// # Real-time
    /// No allocation, lock or system call.
    #[must_use]
    pub fn overwritten(&self) -> u64 {
        self.engine.losses().overwritten
    }

    /// Samples that were older than their publisher's lifespan when they would have been taken, since the subscription was
    /// made.
    ///
    /// # Real-time
    /// No allocation, lock or system call.
    #[must_use]
    pub fn expired(&self) -> u64 {
        self.engine.losses().expired
    }

    /// Why publishers of this topic are not matched (another type, QoS that do not agree), a sentence each.
    ///
    /// # Real-time
    /// Not for real-time threads: it takes locks and makes system calls.
    #[must_use]
    pub fn mismatches(&self) -> Vec<String> {
        self.engine.mismatches()
    }

    /// The topic's full name.
    ///
    /// # Real-time
    /// No allocation, lock or system call.
    #[must_use]
    pub fn topic(&self) -> &str {
        &self.engine.description().topic
    }
}

impl WaitSource for GenericSubscription {
    fn is_lossy(&self) -> bool {
        true
    }

    fn subscription(&mut self) -> Option<&mut gantry_shm::Subscription> {
        Some(&mut self.engine)
    }
}

impl Waitable for GenericSubscription {
    fn is_ready(&mut self) -> Result<bool> {
        Ok(self.engine.is_ready()?)
    }
}

impl TakeSource for GenericSubscription {
    type Taken = GenericSample;

    fn take_next(&mut self) -> Result<Option<GenericSample>> {
        self.take()
    }

    fn time_ns(&self, sample: &GenericSample) -> Option<u64> {
        Some(sample.message_info().source_time_ns)
    }
}

impl From<gantry_shm::Sample> for GenericSample {
    #[inline]
    fn from(sample: gantry_shm::Sample) -> GenericSample {
        GenericSample(sample)
    }
}

impl GenericSample {
    /// The message.
    ///
    /// # Real-time
    /// No allocation, lock or system call.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }

    /// Sequence, times, and which publisher it came from.
    ///
    /// # Real-time
    /// No allocation, lock or system call.
    #[inline]
    #[must_use]
    pub fn message_info(&self) -> SampleInfo {
        self.0.info()
    }
}

impl AsRef<[u8]> for GenericSample {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}
