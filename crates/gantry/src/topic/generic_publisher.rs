//! The generic publisher and its loans: bytes of a type that is known only at run time.
//!
//! Recorders, bridges and bindings use the generic publisher; the typed [`Publisher`](crate::Publisher) is a layer over
//! it. Gantry checks the length of a message if all messages of its type have the same length. Gantry does not check
//! that the bytes are a message of the described type.

use super::{fixed_size::is_fixed_size, other_domains::UnmatchedPublisher};
use crate::{
    error::{Error, Result},
    events::{Events, PublisherEventSource, PublisherEvents},
    node::Presence,
    time::SampleClock,
};
use gantry_shm::{Gid, RequestId, Role, SourceTime};
use std::{sync::Arc, time::Duration};

/// A publisher of messages as bytes. A publisher belongs to one thread at a time, hence `&mut self`.
///
/// A message is a CDR body (XCDR1, little endian) as on ROS 2's wire, without the four bytes of encapsulation
/// ([`ENCAPSULATION`](crate::ENCAPSULATION)). The body starts at a multiple of 8 bytes in memory, so alignment counts
/// from its first byte.
///
/// # Real-time
/// On the data path, [`loan`](GenericPublisher::loan), [`publish`](GenericPublisher::publish),
/// [`publish_at`](GenericPublisher::publish_at), [`publish_copy`](GenericPublisher::publish_copy),
/// [`assert_liveliness`](GenericPublisher::assert_liveliness) and [`topic`](GenericPublisher::topic) neither
/// allocate, lock nor make system calls, except as documented at each method. The other methods are on the control
/// path, and may do all of this.
#[derive(Debug)]
pub struct GenericPublisher {
    pub(crate) engine: gantry_shm::Publisher,
    pub(super) clock: SampleClock,
    /// Keeps the node in the graph.
    presence: Arc<Presence>,
    unmatched: UnmatchedPublisher,
    /// The length of every message, if the type states it and the definition shows that it is fixed.
    fixed_bytes: Option<usize>,
}

/// A loaned message as bytes of shared memory. Write it in place, then pass it to [`GenericPublisher::publish`].
///
/// A loan contains the old bytes of its slot (zeros at first): write every byte, also the padding.
///
/// # Real-time
/// The use of a loan is on the data path, with two exceptions. While more than 64 loans exist, dropping a loan without
/// publishing it takes a lock. After the publisher was dropped, dropping its last loan unmaps its memory.
#[derive(Debug)]
pub struct GenericLoan(pub(super) gantry_shm::Loan);

/// An error of publishing, with the message, which can be published again or dropped. `L` is a [`GenericLoan`] or
/// a [`Loan`](crate::Loan).
#[derive(thiserror::Error)]
#[error("{error}")]
pub struct PublishError<L> {
    /// The message, unchanged.
    pub loan: L,
    /// The cause.
    pub error: Box<Error>,
}

/// Prints the sentence of the error, as the `Debug` of [`Error`] does.
impl<L> std::fmt::Debug for PublishError<L> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

impl<L> From<PublishError<L>> for Error {
    /// Drops the message.
    fn from(error: PublishError<L>) -> Error {
        *error.error
    }
}

impl GenericPublisher {
    pub(crate) fn new(engine: gantry_shm::Publisher, presence: Arc<Presence>) -> GenericPublisher {
        let message_type = &engine.description().message_type;
        let stated_bytes = Some(message_type.payload_bytes).filter(|bytes| *bytes != usize::MAX);
        let fixed_bytes = stated_bytes.filter(|_| is_fixed_size(&message_type.definition));
        let (clock, unmatched) = (SampleClock::new(), UnmatchedPublisher::new());
        GenericPublisher { engine, clock, presence, unmatched, fixed_bytes }
    }

    /// Makes another publisher of the same topic, type, QoS and options, for another thread. The new publisher has its
    /// own memory and sequence numbers, so publishing needs no lock.
    ///
    /// # Errors
    /// The errors of [`Node::create_generic_publisher`](crate::Node::create_generic_publisher).
    pub fn try_clone(&self) -> Result<GenericPublisher> {
        Ok(GenericPublisher::new(self.engine.try_clone()?, self.presence.clone()))
    }

    /// Loans memory for a message of `length_bytes`. Several loans may exist at the same time; a loan that is dropped
    /// without being published goes back to the publisher.
    ///
    /// # Errors
    /// The type has no message of this length; all slots are in use and there is no room for more; the process forked.
    ///
    /// # Real-time
    /// On the data path while a slot is free or can be reclaimed. Otherwise this method adds memory, which the
    /// publisher keeps.
    #[inline]
    pub fn loan(&mut self, length_bytes: usize) -> Result<GenericLoan> {
        self.check_length(length_bytes)?;
        self.loan_of_type(length_bytes)
    }

    /// The bytes of the publisher's shared memory, which grows as samples need it, and never shrinks.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.engine.memory_bytes()
    }

    /// Loans memory as [`GenericPublisher::loan`] does, for a length that was already checked.
    #[inline]
    pub(super) fn loan_of_type(&mut self, length_bytes: usize) -> Result<GenericLoan> {
        Ok(GenericLoan(self.engine.loan(length_bytes)?))
    }

    /// Rejects a length that no message of the type has, before the message reaches readers.
    #[inline]
    fn check_length(&self, length_bytes: usize) -> Result<()> {
        match self.fixed_bytes {
            Some(fixed_bytes) if fixed_bytes != length_bytes => Err(self.wrong_length(length_bytes, fixed_bytes)),
            _ => Ok(()),
        }
    }

    #[cold]
    fn wrong_length(&self, length_bytes: usize, fixed_bytes: usize) -> Error {
        let endpoint = self.engine.description();
        let type_name = endpoint.message_type.name.clone();
        Error::WrongLength { topic: endpoint.topic.clone(), type_name, length_bytes, fixed_bytes }
    }

    /// Publishes a loan without copying it, and returns its sequence number: 1, 2, … The publisher waits if it and a
    /// subscription are both RELIABLE and KEEP_ALL, and the subscription has not yet taken the sample that this message
    /// would replace. It waits at most
    /// [`PublisherOptions::max_blocking_time`](crate::PublisherOptions::max_blocking_time).
    ///
    /// # Errors
    /// The blocking time has passed; the loan belongs to another publisher; there is no room to enlarge the history to
    /// the publisher's depth; the process forked. The error returns the message.
    ///
    /// # Real-time
    /// No allocation and no lock; one system call for each reader that sleeps. If more readers, or readers of a
    /// larger depth, matched since the last call, this method may add memory (system calls, allocation).
    #[inline]
    pub fn publish(&mut self, loan: GenericLoan) -> std::result::Result<u64, PublishError<GenericLoan>> {
        let time = self.clock.now();
        self.publish_at(loan, time)
    }

    /// Publishes as [`GenericPublisher::publish`] does, with the caller's time instead of a reading of the clock. So
    /// several messages can share one reading, or carry the time of a measurement. Readers find exactly this time in
    /// [`SampleInfo`](crate::SampleInfo).
    ///
    /// Both times are in nanoseconds: [`SourceTime::monotonic_ns`] on CLOCK_MONOTONIC
    /// ([`Clock::steady`](crate::Clock::steady)), [`SourceTime::wall_ns`] since 1970. Lifespan, deadline, liveliness
    /// lease and the order of an [`EventsExecutor`](crate::EventsExecutor) use the monotonic time, so an older time
    /// counts as an earlier publication.
    ///
    /// Publishing a small message is fastest if the difference between the two times equals the difference between the
    /// two system clocks ([`PublisherOptions::max_inline_bytes`](crate::PublisherOptions::max_inline_bytes)).
    ///
    /// # Errors
    /// The errors of [`GenericPublisher::publish`].
    ///
    /// # Real-time
    /// The same as for [`GenericPublisher::publish`], without the reading of the clock.
    #[inline]
    pub fn publish_at(
        &mut self,
        loan: GenericLoan,
        time: SourceTime,
    ) -> std::result::Result<u64, PublishError<GenericLoan>> {
        self.engine
            .publish(loan.0, time)
            .map_err(|error| PublishError { loan: GenericLoan(error.loan), error: Box::new(Error::from(*error.error)) })
    }

    /// Copies a message into a slot of shared memory, publishes the slot and returns its sequence number.
    ///
    /// # Errors
    /// The errors of [`GenericPublisher::loan`] and [`GenericPublisher::publish`].
    ///
    /// # Real-time
    /// The same as for [`GenericPublisher::loan`] and [`GenericPublisher::publish`]. The time of the copy grows with
    /// the number of bytes.
    pub fn publish_copy(&mut self, message: &[u8]) -> Result<u64> {
        self.publish_copy_with(message.len(), |body| gantry_cdr::copy(body, message))
    }

    /// Publishes a copy of a message that is not contiguous in memory: `write` serialises the message into the slot,
    /// and must write all `length_bytes` bytes.
    ///
    /// # Errors
    /// The errors of [`GenericPublisher::publish_copy`].
    ///
    /// # Real-time
    /// The same as for [`GenericPublisher::publish_copy`], plus the work of `write`.
    pub fn publish_copy_with(&mut self, length_bytes: usize, write: impl FnOnce(&mut [u8])) -> Result<u64> {
        self.check_length(length_bytes)?;
        let mut loan = self.loan_for_copy(length_bytes)?;
        write(loan.bytes_mut());
        self.publish_copied(loan)
    }

    /// Publishes as [`GenericPublisher::publish_copy_with`] does, as the response to a request.
    pub(crate) fn publish_copy_for(
        &mut self,
        request: RequestId,
        length_bytes: usize,
        write: impl FnOnce(&mut [u8]),
    ) -> Result<u64> {
        let mut loan = self.loan_for_copy(length_bytes)?.answering(request);
        write(loan.bytes_mut());
        self.publish_copied(loan)
    }

    /// Whether `loan` belongs to this publisher.
    #[inline]
    pub(crate) fn owns(&self, loan: &GenericLoan) -> bool {
        self.engine.owns(&loan.0)
    }

    /// Loans memory for a message that the caller copies into it.
    pub(super) fn loan_for_copy(&mut self, length_bytes: usize) -> Result<GenericLoan> {
        Ok(GenericLoan(self.engine.loan_for_copy(length_bytes)?))
    }

    /// Publishes a loan that contains a copy, and counts the copy.
    pub(crate) fn publish_copied(&mut self, loan: GenericLoan) -> Result<u64> {
        let sequence = self.publish(loan)?;
        self.engine.count_copy();
        Ok(sequence)
    }

    /// Asserts that the publisher is alive. [`Liveliness::ManualByTopic`](crate::Liveliness::ManualByTopic) requires
    /// this within each lease duration; publishing also asserts it. With `Automatic`, the method does nothing.
    ///
    /// # Errors
    /// The process forked.
    pub fn assert_liveliness(&self) -> Result<()> {
        Ok(self.engine.assert_liveliness()?)
    }

    /// Returns a handle, for any thread, to the publisher's QoS events from now on: subscriptions that match, leave or
    /// are incompatible; deadlines that the publisher missed; its liveliness. The first event reports the subscriptions
    /// that are matched now. The handle does not slow down publishing.
    ///
    /// # Errors
    /// The endpoints of other processes cannot be read; the process forked.
    pub fn events(&self) -> Result<PublisherEvents> {
        let source = PublisherEventSource::new(&self.engine);
        Events::new(self.presence.participant(), self.topic(), Role::Subscription, source)
    }

    /// The gid of this publisher, which is [`SampleInfo::publisher_gid`](crate::SampleInfo) in each of its messages.
    /// Makes no system call.
    #[must_use]
    pub fn gid(&self) -> Gid {
        self.engine.description().gid
    }

    /// The number of subscriptions that are matched now.
    ///
    /// # Errors
    /// A subscription's memory cannot be mapped; the process forked.
    pub fn subscription_count(&mut self) -> Result<usize> {
        Ok(self.engine.subscription_count()?)
    }

    /// Waits until at least `count` subscriptions are matched. Returns `false` after `timeout`;
    /// [`GenericPublisher::mismatches`] may then return the reason.
    ///
    /// # Errors
    /// `timeout` has passed, and there is a subscription with another type
    /// ([`EngineError::TypeMismatch`](crate::EngineError::TypeMismatch)) or with incompatible QoS
    /// ([`EngineError::IncompatibleQos`](crate::EngineError::IncompatibleQos)); the errors of
    /// [`GenericPublisher::subscription_count`].
    pub fn wait_for_subscriptions(&mut self, count: usize, timeout: Duration) -> Result<bool> {
        let are_matched = self.engine.wait_for_subscriptions(count, timeout)?;
        if !are_matched && self.unmatched.is_due() && self.engine.subscription_count()? == 0 {
            self.unmatched.warn(self.engine.description());
        }
        Ok(are_matched)
    }

    /// A sentence for each subscription to this topic that is not matched, because of another type or incompatible QoS.
    ///
    /// # Errors
    /// The errors of [`GenericPublisher::subscription_count`].
    pub fn mismatches(&self) -> Result<Vec<String>> {
        Ok(self.engine.mismatches()?)
    }

    /// The topic's full name.
    #[must_use]
    pub fn topic(&self) -> &str {
        &self.engine.description().topic
    }
}

impl GenericLoan {
    /// Marks the loan as the response to a request.
    #[inline]
    pub(crate) fn answering(mut self, request: RequestId) -> GenericLoan {
        self.0.set_request(request);
        self
    }

    /// The message.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }

    /// The message, to be written.
    #[inline]
    #[must_use]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.0.bytes_mut()
    }
}

impl AsRef<[u8]> for GenericLoan {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}

impl AsMut<[u8]> for GenericLoan {
    #[inline]
    fn as_mut(&mut self) -> &mut [u8] {
        self.bytes_mut()
    }
}
