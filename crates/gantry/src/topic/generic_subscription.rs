//! The generic subscription and its samples: bytes of a type that is known only at run time.
//!
//! Recorders, bridges, bindings and tools use the generic subscription; the typed
//! [`Subscription`](crate::Subscription) is a layer over it. The bytes come from another process and are not checked.

use super::{malformed_samples::MalformedSamples, other_domains::UnmatchedSubscription};
use crate::{
    error::{Error, Result},
    events::{Events, SubscriptionEventSource, SubscriptionEvents},
    log::{self, Nth, is_logged},
    node::Presence,
    topic::message_info::MessageInfo,
    wait::{TakeFuture, TakeSource, WaitSource, Waitable},
};
use gantry_shm::{Gid, Role, SampleInfo};
use std::{fmt::Display, os::fd::BorrowedFd, sync::Arc, time::Duration};

/// A subscription that takes messages as bytes. A subscription belongs to one thread at a time.
///
/// A message is a CDR body without encapsulation, as for a [`GenericPublisher`](crate::GenericPublisher).
///
/// # Real-time
/// On the data path, [`take`](GenericSubscription::take), [`overwritten`](GenericSubscription::overwritten),
/// [`expired`](GenericSubscription::expired) and [`topic`](GenericSubscription::topic) neither allocate, lock nor
/// make system calls, except as documented at each method. The other methods are on the control path, and may do all
/// of this. A thread that must not sleep calls `take` without a wait.
#[derive(Debug)]
pub struct GenericSubscription {
    pub(crate) engine: gantry_shm::Subscription,
    /// Keeps the node in the graph.
    presence: Arc<Presence>,
    /// The search for publishers in other domains. It runs once, if this domain has no publisher of the topic.
    _unmatched: Option<Arc<UnmatchedSubscription>>,
    malformed: MalformedSamples,
}

/// A message that is read in place. A sample owns the pin (hazard pointer) that protects its memory: it can be kept,
/// sent to another thread, and dropped in any order.
///
/// # Real-time
/// The use of a sample is on the data path while its subscription exists.
#[derive(Debug)]
pub struct GenericSample(gantry_shm::Sample);

impl GenericSubscription {
    pub(crate) fn new(engine: gantry_shm::Subscription, presence: Arc<Presence>) -> GenericSubscription {
        GenericSubscription { engine, presence, _unmatched: None, malformed: MalformedSamples::default() }
    }

    /// Requests a search for publishers of the topic in other domains. The search logs a warning if it finds
    /// a publisher.
    pub(super) fn look_at_other_domains(mut self) -> Result<GenericSubscription> {
        self._unmatched = Some(UnmatchedSubscription::watch(self.presence.participant(), &self.engine)?);
        Ok(self)
    }

    /// Takes the next message, to be read in place; `None` if there is none now. If several publishers have messages,
    /// the oldest message comes first. If more messages wait than the depth of a KEEP_LAST subscription, the oldest
    /// messages are skipped and counted ([`GenericSubscription::overwritten`]). Samples older than their publisher's
    /// lifespan are also skipped.
    ///
    /// # Errors
    /// A publisher's memory is invalid, so that the publisher is excluded for good; the limit of held samples is
    /// reached ([`GenericSubscription::set_max_held_samples`]); the process forked.
    ///
    /// # Real-time
    /// Allocates if publishers came or went since the last call, or if more samples are held than ever before. If a
    /// publisher's file grew, one system call reads its size; a process that may not map files ahead
    /// ([`Participant::join`](gantry_shm::Participant::join)) then maps it.
    #[inline]
    pub fn take(&mut self) -> Result<Option<GenericSample>> {
        Ok(self.engine.take()?.map(GenericSample))
    }

    /// Takes the next message and passes it to `copy`, which copies it to the caller's memory
    /// ([`GenericSample::copy_to`], [`GenericSample::copy_into`]). The copy is counted in the `copied_messages` of
    /// [`TopicEndpointInfo`](crate::TopicEndpointInfo).
    ///
    /// # Errors
    /// The errors of [`GenericSubscription::take`].
    ///
    /// # Real-time
    /// The same as for [`GenericSubscription::take`], plus the work of `copy`.
    pub fn take_copy_with<R>(&mut self, copy: impl FnOnce(&GenericSample) -> R) -> Result<Option<(R, SampleInfo)>> {
        let Some(sample) = self.take()? else { return Ok(None) };
        let copied = copy(&sample);
        self.engine.count_copy();
        Ok(Some((copied, sample.message_info())))
    }

    /// Takes the next message as [`GenericSubscription::take`] does, and also returns the time of the take.
    ///
    /// # Errors
    /// The errors of [`GenericSubscription::take`].
    ///
    /// # Real-time
    /// The same as for [`GenericSubscription::take`], plus the reading of two clocks.
    pub fn take_with_info(&mut self) -> Result<Option<(GenericSample, MessageInfo)>> {
        let Some(sample) = self.take()? else { return Ok(None) };
        let info = MessageInfo::received_now(sample.message_info());
        Ok(Some((sample, info)))
    }

    /// Returns a future of the next message: see [`Subscription::take_async`](crate::Subscription::take_async).
    ///
    /// # Errors
    /// [`Error::ShutDown`](crate::Error::ShutDown); the errors of [`GenericSubscription::take`].
    pub fn take_async(&mut self) -> TakeFuture<'_, GenericSubscription> {
        TakeFuture::new(self)
    }

    /// Waits until there is something to take. Returns `false` after `timeout` or a shutdown. The wait polls for a
    /// bounded time (not if only one CPU is usable), then sleeps on a futex.
    ///
    /// # Errors
    /// `timeout` has passed, no publisher is matched, and a publisher has another type
    /// ([`EngineError::TypeMismatch`](crate::EngineError::TypeMismatch)), has incompatible QoS
    /// ([`EngineError::IncompatibleQos`](crate::EngineError::IncompatibleQos)), or could not be opened or mapped
    /// ([`EngineError::UnmatchedPublisher`](crate::EngineError::UnmatchedPublisher)); the errors of
    /// [`GenericSubscription::take`].
    pub fn wait(&mut self, timeout: Duration) -> Result<bool> {
        Ok(self.engine.wait(timeout)?)
    }

    /// Waits until at least `count` publishers are matched. Returns `false` after `timeout` or a shutdown.
    ///
    /// # Errors
    /// The errors of [`GenericSubscription::wait`].
    pub fn wait_for_publishers(&mut self, count: usize, timeout: Duration) -> Result<bool> {
        Ok(self.engine.wait_for_publishers(count, timeout)?)
    }

    /// Switches the bounded busy-wait of [`GenericSubscription::wait`] before its sleep on (the default) or off. The
    /// busy-wait finds a sample that arrives within 20 µs, which saves a sleep and a wake-up. A busy-wait that finds no
    /// sample costs CPU time, and makes the next busy-wait shorter. Wait sets and executors are not affected.
    ///
    /// This method reads files to find the number of usable CPUs, so call it before time-critical work.
    pub fn set_busy_wait(&mut self, on: bool) {
        self.engine.set_busy_wait(on);
    }

    /// Sets the largest number of samples of one publisher that may be held at once (kept, or queued by an executor).
    /// The default is no limit. A take beyond the limit fails with
    /// [`EngineError::TooManyHeld`](crate::EngineError::TooManyHeld), and the sample stays in the history. So a
    /// subscription that holds too many samples harms itself and not its publishers, whose memory the samples occupy.
    ///
    /// Small messages (`PublisherOptions::max_inline_bytes`, 256 bytes by default) do not count, because a take copies
    /// them.
    pub fn set_max_held_samples(&mut self, limit: usize) {
        self.engine.set_max_held_samples(limit);
    }

    /// A file descriptor that is readable while there is something to take, for programs that wait with epoll or poll.
    /// Before the next wait on the descriptor, take until there is nothing more. [`GenericSubscription::wait`] is
    /// faster.
    ///
    /// # Errors
    /// No descriptor could be made; the process forked.
    ///
    /// # Real-time
    /// While a thread waits on the descriptor, a take that finds nothing more also makes system calls.
    pub fn descriptor(&mut self) -> Result<BorrowedFd<'_>> {
        Ok(self.engine.descriptor()?)
    }

    /// Returns a handle, for any thread, to the subscription's QoS events from now on: publishers that match, leave or
    /// are incompatible; deadlines that publishers missed; their liveliness. The first event reports the publishers
    /// that are matched now. The handle does not slow down taking.
    ///
    /// # Errors
    /// The endpoints of other processes cannot be read; the process forked.
    pub fn events(&self) -> Result<SubscriptionEvents> {
        let source = SubscriptionEventSource::new(&self.engine);
        Events::new(self.presence.participant(), self.topic(), Role::Publisher, source)
    }

    /// The id of this subscription in the graph. Makes no system call.
    #[must_use]
    pub fn gid(&self) -> Gid {
        self.engine.description().gid
    }

    /// The number of samples that this subscription could take so far: taken, overwritten and expired samples, and
    /// samples that can be taken now, also from the history of a TRANSIENT_LOCAL publisher. The number never decreases.
    /// The difference between two calls is the number of new messages, as ROS 2's `on_new_message` counts them.
    ///
    /// Reads the state of each publisher. Allocates only if publishers came or went, and is then on the control path.
    ///
    /// # Errors
    /// The process forked.
    pub fn received(&mut self) -> Result<u64> {
        Ok(self.engine.received()?)
    }

    /// The number of publishers that are matched now.
    ///
    /// # Errors
    /// The errors of [`GenericSubscription::take`].
    pub fn publisher_count(&mut self) -> Result<usize> {
        Ok(self.engine.publisher_count()?)
    }

    /// The number of samples that left the history before this subscription took them.
    #[must_use]
    pub fn overwritten(&self) -> u64 {
        self.engine.losses().overwritten
    }

    /// For each publisher to which this subscription is connected, the number of the publisher's samples that left
    /// the history before this subscription took them.
    pub fn overwritten_by_publisher(&self) -> impl Iterator<Item = (Gid, u64)> {
        self.engine.lost_by_publisher()
    }

    /// The number of samples for this subscription that were not delivered to a caller: [overwritten] or [malformed].
    /// ROS 2's event of lost messages reports this number.
    ///
    /// [overwritten]: GenericSubscription::overwritten
    /// [malformed]: GenericSubscription::malformed
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.overwritten() + self.malformed()
    }

    /// The number of samples that this subscription skipped because they were older than their publisher's lifespan.
    #[must_use]
    pub fn expired(&self) -> u64 {
        self.engine.losses().expired
    }

    /// The number of taken samples whose bytes were not a message of the topic's type. The typed
    /// [`Subscription`](crate::Subscription) detects this when it checks the bytes. The number includes samples whose
    /// take returned an error, and samples that were skipped.
    #[must_use]
    pub fn malformed(&self) -> u64 {
        self.malformed.count
    }

    /// Counts a taken sample as [malformed](GenericSubscription::malformed), and logs the first, the tenth, the
    /// hundredth such sample and so on, with its publisher and the reason. It is meant for bindings, which check
    /// messages themselves and continue without an error, so that a publisher cannot end other programs.
    ///
    /// # Real-time
    /// Each logged sample costs a reading of the graph.
    pub fn skip_malformed(&mut self, sample: &GenericSample, why: impl Display) {
        let (participant, subscription) = (self.presence.participant(), self.engine.description());
        self.malformed.skip(participant, subscription, sample.message_info().publisher_gid, &why);
    }

    /// The error of a sample whose bytes are not a message of its type.
    #[cold]
    pub(super) fn malformed_sample(
        &mut self,
        publisher: Gid,
        type_name: &'static str,
        error: gantry_cdr::Error,
    ) -> Error {
        let (participant, topic) = (self.presence.participant(), &self.engine.description().topic);
        self.malformed.error(participant, topic, publisher, (type_name, error))
    }

    /// Logs the error of the newest malformed sample, if this sample is the first, the tenth, the hundredth and so on.
    #[cold]
    pub(super) fn log_malformed(&self, error: &Error) {
        let count = self.malformed.count;
        if is_logged(count) {
            log::warn(&self.engine.description().node, format_args!("{error}{}", Nth(count)));
        }
    }

    /// A sentence for each publisher of this topic that is not matched, because it has another type or incompatible
    /// QoS, or could not be opened or mapped. Each sentence is also logged when the mismatch is found.
    #[must_use]
    pub fn mismatches(&self) -> Vec<String> {
        self.engine.mismatches()
    }

    /// The topic's full name.
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

impl Waitable for GenericSubscription {}

impl TakeSource for GenericSubscription {
    type Taken = GenericSample;

    fn take_next(&mut self) -> Result<Option<GenericSample>> {
        self.take()
    }

    fn size_bytes(&self, sample: &GenericSample) -> usize {
        sample.message_info().length_bytes
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
    /// The bytes of the message, in the publisher's memory. A publisher that breaks the protocol could change them.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }

    /// Copies as much of the message as fits to the beginning of `target`, and returns the length of the copy. Unlike
    /// [`GenericSample::bytes`], this method does not rely on the publisher to leave the message unchanged.
    pub fn copy_to(&self, target: &mut [u8]) -> usize {
        self.0.copy_to(target)
    }

    /// Copies the whole message as [`GenericSample::copy_to`] does; `target` then has the message's length. Allocates
    /// if the capacity of `target` is too small.
    pub fn copy_into(&self, target: &mut Vec<u8>) {
        self.0.copy_into(target);
    }

    /// The sample's sequence, times and publisher.
    #[inline]
    #[must_use]
    pub fn message_info(&self) -> SampleInfo {
        self.0.info()
    }

    /// Whether the message travelled inline ([`max_inline_bytes`](crate::PublisherOptions::max_inline_bytes)), so
    /// that this sample is a private copy, outside of the publisher's memory.
    #[inline]
    #[must_use]
    pub fn is_inline(&self) -> bool {
        self.0.is_inline()
    }

    /// The largest amount of memory that the publisher may use
    /// ([`max_memory_bytes`](crate::PublisherOptions::max_memory_bytes)); `None` if the message travelled inline.
    #[must_use]
    pub fn publisher_limit_bytes(&self) -> Option<usize> {
        self.0.publisher_limit_bytes()
    }
}

impl AsRef<[u8]> for GenericSample {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}
