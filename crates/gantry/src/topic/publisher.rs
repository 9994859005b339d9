//! A publisher of one message type, and its loans: a typed layer over the generic one.

use super::{
    events::PublisherEvents,
    generic_publisher::{GenericLoan, GenericPublisher, PublishError},
};
use crate::error::{Error, Result};
use gantry_cdr::{Kind, Message, View};
use gantry_shm::RequestId;
use std::{
    marker::PhantomData,
    ops::{Deref, DerefMut},
    time::Duration,
};

/// Publishes messages of type `T`; belongs to one thread at a time.
///
/// # Real-time
/// Making and dropping it is control path; of each method it is said apart.
#[derive(Debug)]
pub struct Publisher<T> {
    generic: GenericPublisher,
    message: PhantomData<fn(T)>,
}

/// A message on loan: shared memory, to be written in place and given to [`Publisher::publish`].
///
/// It derefs to the message's view: to the struct itself if it is plain, else to what has `set_…` for numbers and `…_mut` for
/// the rest.
///
/// # Real-time
/// Reading, writing and dropping it neither allocates, blocks nor makes system calls. But of more than 64 loans that are
/// out at once and are dropped unpublished, further ones take a lock; and the last loan of a publisher that is gone unmaps its memory.
pub struct Loan<T: Message> {
    view: T::View<GenericLoan>,
}

impl<T: Message> Publisher<T> {
    pub(crate) fn new(generic: GenericPublisher) -> Publisher<T> {
        Publisher { generic, message: PhantomData }
    }

    /// Another publisher of the same topic, QoS and options, for another thread: with memory and sequences of its own, it shares
    /// nothing with this one that publishing would have to lock. Control path.
    ///
    /// # Errors
    /// As [`Node::create_publisher`](crate::Node::create_publisher).
    ///
    /// # Real-time
    /// Not for real-time threads: it takes locks and makes system calls.
    pub fn try_clone(&self) -> Result<Publisher<T>> {
        Ok(Publisher::new(self.generic.try_clone()?))
    }

    /// Memory for one message of that shape (texts, and lengths of sequences), built as [`Message::build`] says: the texts
    /// are there, numbers are the definition's defaults or zero, and the elements of sequences and arrays of numbers hold what the
    /// slot last held: write all that readers look at. Several loans may be out at once; one that is dropped unpublished goes
    /// back.
    ///
    /// # Errors
    /// A length above its bound; as [`Publisher::loan`].
    ///
    /// # Real-time
    /// As [`Publisher::loan`].
    pub fn loan_with(&mut self, shape: T::Shape<'_>) -> Result<Loan<T>> {
        let length_bytes = T::shape_bytes(shape).map_err(|error| self.cannot_build(error))?;
        let loan = self.generic.loan(length_bytes)?;
        let view = T::build(loan, shape).map_err(|error| self.cannot_build(error))?;
        Ok(Loan { view })
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
    pub fn publish(&mut self, loan: Loan<T>) -> std::result::Result<u64, PublishError<Loan<T>>> {
        let (loan, layout) = loan.view.into_parts();
        self.generic.publish(loan).map_err(|PublishError { loan, error }| PublishError {
            loan: Loan { view: T::in_memory(loan, layout) },
            error,
        })
    }

    /// Serialises `message` into a slot and publishes that; returns its sequence. The copy path.
    ///
    /// # Errors
    /// A length above its bound; as [`Publisher::loan`] and [`Publisher::publish`].
    ///
    /// # Real-time
    /// As [`Publisher::loan`] and [`Publisher::publish`]; takes time in the number of bytes.
    pub fn publish_copy(&mut self, message: &T) -> Result<u64> {
        let loan = self.copied(message)?;
        self.generic.publish_copied(loan)
    }

    /// As [`Publisher::publish_copy`], of the answer to a request.
    pub(crate) fn publish_copy_for(&mut self, request: RequestId, message: &T) -> Result<u64> {
        let mut loan = self.copied(message)?;
        loan.set_request(request);
        self.generic.publish_copied(loan)
    }

    /// A slot with the message in it.
    fn copied(&mut self, message: &T) -> Result<GenericLoan> {
        let length_bytes = message.body_bytes().map_err(|error| self.cannot_build(error))?;
        let mut loan = self.generic.loan(length_bytes)?;
        message.write_body(loan.bytes_mut()).map_err(|error| self.cannot_build(error))?;
        Ok(loan)
    }

    /// The engine's publisher.
    pub(crate) fn engine(&self) -> &gantry_shm::Publisher {
        self.generic.engine()
    }

    #[cold]
    fn cannot_build(&self, error: gantry_cdr::Error) -> Error {
        Error::CannotBuild { topic: self.topic().to_owned(), type_name: T::TYPE_NAME, error }
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
        self.generic.assert_liveliness()
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
        self.generic.events()
    }

    /// How many subscriptions are matched now. Control path.
    ///
    /// # Errors
    /// A subscription's memory cannot be mapped; the process forked.
    ///
    /// # Real-time
    /// Not for real-time threads: it takes locks and makes system calls.
    pub fn subscription_count(&mut self) -> Result<usize> {
        self.generic.subscription_count()
    }

    /// Waits until at least `count` subscriptions are matched; `false` if they were not within `timeout`
    /// ([`Publisher::mismatches`] may say why). Control path.
    ///
    /// # Errors
    /// The time is over and there is a subscription of another type
    /// ([`EngineError::TypeMismatch`](crate::EngineError::TypeMismatch)); as [`Publisher::subscription_count`].
    ///
    /// # Real-time
    /// Not for real-time threads: it sleeps (a bounded spin, then a futex).
    pub fn wait_for_subscriptions(&mut self, count: usize, timeout: Duration) -> Result<bool> {
        self.generic.wait_for_subscriptions(count, timeout)
    }

    /// Why subscriptions to this topic are not matched (another type, QoS that do not agree), a sentence each. Control
    /// path.
    ///
    /// # Errors
    /// As [`Publisher::subscription_count`].
    ///
    /// # Real-time
    /// Not for real-time threads: it takes locks and makes system calls.
    pub fn mismatches(&self) -> Result<Vec<String>> {
        self.generic.mismatches()
    }

    /// The topic's full name.
    ///
    /// # Real-time
    /// No allocation, lock or system call.
    #[must_use]
    pub fn topic(&self) -> &str {
        self.generic.topic()
    }
}

impl<T: Message + for<'a> Kind<Shape<'a> = ()>> Publisher<T> {
    /// Memory for one message of a type whose messages are all of the same length; for others see [`Publisher::loan_with`].
    ///
    /// The arrays in it, and a plain message as a whole, hold what the slot last held (zeros at first): write all that readers
    /// look at. Several loans may be out at once; one that is dropped unpublished goes back.
    ///
    /// # Errors
    /// All slots are in use and there is no room for more; the process forked.
    ///
    /// # Real-time
    /// No allocation, lock or system call while a slot is free or can be reclaimed; otherwise memory is added. Memory that was
    /// of no use for long is handed back here (system calls).
    #[inline]
    pub fn loan(&mut self) -> Result<Loan<T>> {
        self.loan_with(())
    }
}

impl<T: Message> Loan<T> {
    /// The same, which says what request it answers.
    #[inline]
    pub(crate) fn answering(self, request: RequestId) -> Loan<T> {
        let (mut loan, layout) = self.view.into_parts();
        loan.set_request(request);
        Loan { view: T::in_memory(loan, layout) }
    }
}

impl<T: Message> std::fmt::Debug for Loan<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.view.memory().fmt(f)
    }
}

impl<T: Message> Deref for Loan<T> {
    type Target = <T::View<GenericLoan> as View<GenericLoan>>::Target;

    #[inline]
    fn deref(&self) -> &Self::Target {
        self.view.target()
    }
}

impl<T: Message> DerefMut for Loan<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.view.target_mut()
    }
}
