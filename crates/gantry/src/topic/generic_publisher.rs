//! A publisher of bytes with a type that is known at run time, and its loans.
//!
//! For recorders, bridges and bindings; `publisher` is a typed layer over it. The bytes are what the description says: nobody
//! checks them here.

use super::events::{Events, PublisherEvents};
use crate::{
    error::{Error, Result},
    node::Presence,
    time::SampleClock,
};
use gantry_shm::RequestId;
use std::{sync::Arc, time::Duration};

/// Publishes messages as bytes; belongs to one thread at a time.
///
/// A message is a CDR body as ROS 2 has it on the wire, XCDR1 in little endian, without the four bytes of encapsulation
/// ([`ENCAPSULATION`](crate::ENCAPSULATION)) before it. It begins at a multiple of 8, so alignment counts from its first byte.
///
/// # Real-time
/// Making and dropping it is control path; of each method it is said apart.
#[derive(Debug)]
pub struct GenericPublisher {
    engine: gantry_shm::Publisher,
    clock: SampleClock,
    /// Its node is there as long as it is.
    presence: Arc<Presence>,
}

/// Bytes on loan: shared memory, to be written in place and given to [`GenericPublisher::publish`].
///
/// It holds what its slot last held (zeros at first): write every byte, padding too.
///
/// # Real-time
/// Reading, writing and dropping it neither allocates, blocks nor makes system calls. But of more than 64 loans that are
/// out at once and are dropped unpublished, further ones take a lock; and the last loan of a publisher that is gone unmaps its memory.
#[derive(Debug)]
pub struct GenericLoan(gantry_shm::Loan);

/// A message that could not be published, and why; publish it again or drop it. `L` is a [`GenericLoan`] or a
/// [`Loan`](crate::Loan).
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct PublishError<L> {
    /// The message, as it was written.
    pub loan: L,
    /// Why.
    pub error: Box<Error>,
}

impl<L> From<PublishError<L>> for Error {
    /// Drops the message.
    fn from(unpublished: PublishError<L>) -> Error {
        *unpublished.error
    }
}

impl GenericPublisher {
    pub(crate) fn new(engine: gantry_shm::Publisher, presence: Arc<Presence>) -> GenericPublisher {
        GenericPublisher { engine, clock: SampleClock::new(), presence }
    }

    /// Another publisher of the same topic, type, QoS and options, for another thread: with memory and sequences of its own, it
    /// shares nothing with this one that publishing would have to lock. Control path.
    ///
    /// # Errors
    /// As [`Node::create_generic_publisher`](crate::Node::create_generic_publisher).
    ///
    /// # Real-time
    /// Not for real-time threads: it takes locks and makes system calls.
    pub fn try_clone(&self) -> Result<GenericPublisher> {
        Ok(GenericPublisher::new(self.engine.try_clone()?, self.presence.clone()))
    }

    /// Memory for a message of `length_bytes`. Several loans may be out at once; one that is dropped unpublished goes back.
    ///
    /// # Errors
    /// The type has no message that long; all slots are in use and there is no room for more; the process forked.
    ///
    /// # Real-time
    /// No allocation, lock or system call while a slot is free or can be reclaimed; otherwise memory is added. Memory that was
    /// of no use for long is handed back here (system calls).
    #[inline]
    pub fn loan(&mut self, length_bytes: usize) -> Result<GenericLoan> {
        Ok(GenericLoan(self.engine.loan(length_bytes)?))
    }

    /// Publishes a loan where it is and returns its sequence: 1, 2, … If publisher and subscription are both RELIABLE and
    /// KEEP_ALL, and the subscription has not taken what would have to go, waits up to
    /// [`PublisherOptions::max_blocking_time`](crate::PublisherOptions::max_blocking_time).
    ///
    /// # Errors
    /// That time is over; the loan came from another publisher; the process forked. The message comes back with the error.
    ///
    /// # Real-time
    /// No allocation and no lock; one system call for each reader that sleeps. When deeper or more readers came since the last
    /// call, memory may be added here (system calls, allocation).
    #[inline]
    pub fn publish(&mut self, loan: GenericLoan) -> std::result::Result<u64, PublishError<GenericLoan>> {
        let time = self.clock.now();
        self.engine.publish(loan.0, time).map_err(|unpublished| PublishError {
            loan: GenericLoan(unpublished.loan),
            error: Box::new(Error::from(*unpublished.error)),
        })
    }

    /// The engine's publisher.
    pub(crate) fn engine(&self) -> &gantry_shm::Publisher {
        &self.engine
    }

    /// Copies a message into a slot and publishes that; returns its sequence.
    ///
    /// # Errors
    /// As [`GenericPublisher::loan`] and [`GenericPublisher::publish`].
    ///
    /// # Real-time
    /// As [`GenericPublisher::loan`] and [`GenericPublisher::publish`]; takes time in the number of bytes.
    pub fn publish_copy(&mut self, message: &[u8]) -> Result<u64> {
        let mut loan = self.loan(message.len())?;
        loan.bytes_mut().copy_from_slice(message);
        self.publish_copied(loan)
    }

    /// Publishes what was copied into a loan, and counts that.
    pub(crate) fn publish_copied(&mut self, loan: GenericLoan) -> Result<u64> {
        let sequence = self.publish(loan)?;
        self.engine.count_copy();
        Ok(sequence)
    }

    /// Says that the publisher is alive, as [`Liveliness::ManualByTopic`](crate::Liveliness::ManualByTopic) asks for within the
    /// lease duration; to publish says so, too. With `Automatic` it does nothing.
    ///
    /// # Errors
    /// The process forked.
    ///
    /// # Real-time
    /// No allocation, lock or system call.
    pub fn assert_liveliness(&self) -> Result<()> {
        Ok(self.engine.assert_liveliness()?)
    }

    /// What happens to the publisher from now on besides publishing, on a handle of its own for any thread: subscriptions that
    /// come and go, or do not fit; deadlines that it missed; its liveliness. What is matched now is the first event.
    ///
    /// # Errors
    /// Other processes' endpoints cannot be read; the process forked.
    ///
    /// # Real-time
    /// Control path: locks, allocates and makes system calls. Publishing stays as it is.
    pub fn events(&self) -> Result<PublisherEvents> {
        Ok(Events::new(self.engine.events()?))
    }

    /// How many subscriptions are matched now. Control path.
    ///
    /// # Errors
    /// A subscription's memory cannot be mapped; the process forked.
    ///
    /// # Real-time
    /// Not for real-time threads: it takes locks and makes system calls.
    pub fn subscription_count(&mut self) -> Result<usize> {
        Ok(self.engine.subscription_count()?)
    }

    /// Waits until at least `count` subscriptions are matched; `false` if they were not within `timeout`
    /// ([`GenericPublisher::mismatches`] may say why). Control path.
    ///
    /// # Errors
    /// The time is over and there is a subscription of another type
    /// ([`EngineError::TypeMismatch`](crate::EngineError::TypeMismatch)); as [`GenericPublisher::subscription_count`].
    ///
    /// # Real-time
    /// Not for real-time threads: it sleeps (a bounded spin, then a futex).
    pub fn wait_for_subscriptions(&mut self, count: usize, timeout: Duration) -> Result<bool> {
        Ok(self.engine.wait_for_subscriptions(count, timeout)?)
    }

    /// Why subscriptions to this topic are not matched (another type, QoS that do not agree), a sentence each. Control
    /// path.
    ///
    /// # Errors
    /// As [`GenericPublisher::subscription_count`].
    ///
    /// # Real-time
    /// Not for real-time threads: it takes locks and makes system calls.
    pub fn mismatches(&self) -> Result<Vec<String>> {
        Ok(self.engine.mismatches()?)
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

impl GenericLoan {
    /// The message.
    ///
    /// # Real-time
    /// No allocation, lock or system call.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }

    /// The message, to be written.
    ///
    /// # Real-time
    /// No allocation, lock or system call.
    #[inline]
    #[must_use]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.0.bytes_mut()
    }
}

impl GenericLoan {
    /// Says which request it answers.
    #[inline]
    pub(crate) fn set_request(&mut self, request: RequestId) {
        self.0.set_request(request);
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
