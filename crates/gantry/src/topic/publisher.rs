//! The typed publisher and its loans: a [`GenericPublisher`] whose messages are accessed through the view of `T`.

use super::generic_publisher::{GenericLoan, GenericPublisher, PublishError};
use crate::error::{Error, Result};
use gantry_cdr::{FixedSize, Message, Shape, View};
use gantry_shm::{Gid, SourceTime};
use std::{
    marker::PhantomData,
    ops::{Deref, DerefMut},
    time::Duration,
};

/// A publisher of messages of type `T`. A publisher belongs to one thread at a time. It dereferences to its
/// [`GenericPublisher`], which has the methods that do not depend on `T` and documents which methods are real-time.
#[derive(Debug)]
pub struct Publisher<T> {
    generic: GenericPublisher,
    message: PhantomData<fn(T)>,
}

/// A loaned message in shared memory. Write it in place, then pass it to [`Publisher::publish`]. See also
/// [`GenericLoan`].
///
/// A loan dereferences to the message's view. For a plain message, this is the struct itself; otherwise it has `set_…`
/// for numbers and `…_mut` for the rest.
///
/// # Defaults
/// A loan starts from the message's defaults: strings have the values of the loan's shape, and all other fields have
/// the values of the definition, or zero. There is one exception, because clearing an image would cost as much as
/// writing it: **an array or a sequence of more than 4 KiB ([`MAX_DEFAULT_BYTES`](gantry_cdr::MAX_DEFAULT_BYTES)) holds
/// old bytes**, so write all of it.
///
/// Loans of [`loan_uninit`](Publisher::loan_uninit) and [`loan_uninit_with`](Publisher::loan_uninit_with) have no
/// defaults: write every number. The same rules apply to requests and responses of services, and to [`Message::build`].
pub struct Loan<T: Message> {
    view: T::View<GenericLoan>,
}

impl<T: Message> Publisher<T> {
    pub(crate) fn new(generic: GenericPublisher) -> Publisher<T> {
        Publisher { generic, message: PhantomData }
    }

    pub(crate) fn generic_mut(&mut self) -> &mut GenericPublisher {
        &mut self.generic
    }

    /// Makes another publisher of the same topic, as [`GenericPublisher::try_clone`] does.
    ///
    /// # Errors
    /// The errors of [`Node::create_publisher`](crate::Node::create_publisher).
    pub fn try_clone(&self) -> Result<Publisher<T>> {
        Ok(Publisher::new(self.generic.try_clone()?))
    }

    /// Loans memory for one message of a type whose messages all have the same length. For other types, see
    /// [`Publisher::loan_with`]. The message starts from its [defaults](Loan#defaults).
    ///
    /// ```compile_fail,E0277
    /// # use gantry_msgs::sensor_msgs::msg::Image;
    /// # fn one(mut publisher: gantry::Publisher<Image>) {
    /// publisher.loan(); // an image has texts and a sequence: loan_with(ImageShape { .. })
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`GenericPublisher::loan`].
    #[inline]
    pub fn loan(&mut self) -> Result<Loan<T>>
    where
        T: FixedSize,
    {
        self.loan_with(())
    }

    /// Loans memory as [`Publisher::loan`] does, but without defaults, which saves the time to write them. It is meant
    /// for a program that writes every number of the message: the loan holds the slot's old contents, which are valid
    /// values of an older message.
    ///
    /// # Errors
    /// The errors of [`GenericPublisher::loan`].
    #[inline]
    pub fn loan_uninit(&mut self) -> Result<Loan<T>>
    where
        T: FixedSize,
    {
        self.loan_uninit_with(())
    }

    /// Loans memory for one message with this [shape](Shape) (strings, and lengths of sequences). The message starts
    /// from its [defaults](Loan#defaults). See also [`GenericPublisher::loan`].
    ///
    /// # Errors
    /// A string or a sequence is longer than its bound; the errors of [`GenericPublisher::loan`].
    #[inline]
    pub fn loan_with(&mut self, shape: impl Shape<T>) -> Result<Loan<T>> {
        self.generic.loan_message(shape)
    }

    /// Loans memory as [`Publisher::loan_with`] does, but without defaults, for a program that writes every number of
    /// the message. Numbers, and arrays and sequences of numbers, hold the slot's old contents, which are valid values
    /// of an older message.
    ///
    /// # Errors
    /// The errors of [`Publisher::loan_with`].
    #[inline]
    pub fn loan_uninit_with(&mut self, shape: impl Shape<T>) -> Result<Loan<T>> {
        let length_bytes = T::shape_bytes(shape.clone()).map_err(|error| self.generic.cannot_build::<T>(error))?;
        let loan = self.generic.loan_of_type(length_bytes)?;
        let view = T::build_uninit(loan, shape).map_err(|error| self.generic.cannot_build::<T>(error))?;
        Ok(Loan { view })
    }

    /// Publishes a loan and returns its sequence number, as [`GenericPublisher::publish`] does.
    ///
    /// # Errors
    /// As that method.
    #[inline]
    pub fn publish(&mut self, loan: Loan<T>) -> std::result::Result<u64, PublishError<Loan<T>>> {
        let time = self.generic.clock.now();
        self.publish_at(loan, time)
    }

    /// Publishes a loan with a time that the caller gives, as [`GenericPublisher::publish_at`] does.
    ///
    /// # Errors
    /// As that method.
    #[inline]
    pub fn publish_at(&mut self, loan: Loan<T>, time: SourceTime) -> std::result::Result<u64, PublishError<Loan<T>>> {
        loan.publish_with(|loan| self.generic.publish_at(loan, time))
    }

    /// Serialises `message` into a slot of shared memory, publishes the slot and returns its sequence number.
    ///
    /// # Errors
    /// A string or a sequence is longer than its bound; the errors of [`GenericPublisher::publish_copy`].
    pub fn publish_copy(&mut self, message: &T) -> Result<u64> {
        let loan = self.generic.copy_message(message)?;
        self.generic.publish_copied(loan)
    }

    /// Returns the publisher's gid, as [`GenericPublisher::gid`] does.
    #[must_use]
    pub fn gid(&self) -> Gid {
        self.generic.gid()
    }

    /// Returns the number of matched subscriptions, as [`GenericPublisher::subscription_count`] does.
    ///
    /// # Errors
    /// As that method.
    pub fn subscription_count(&mut self) -> Result<usize> {
        self.generic.subscription_count()
    }

    /// Waits until `count` subscriptions are matched, as [`GenericPublisher::wait_for_subscriptions`] does.
    ///
    /// # Errors
    /// As that method.
    pub fn wait_for_subscriptions(&mut self, count: usize, timeout: Duration) -> Result<bool> {
        self.generic.wait_for_subscriptions(count, timeout)
    }
}

/// Methods of a typed publisher that servers also need for their generic publishers.
impl GenericPublisher {
    /// Loans memory for a message of this shape, as [`Publisher::loan_with`] does.
    #[inline]
    pub(crate) fn loan_message<T: Message>(&mut self, shape: impl Shape<T>) -> Result<Loan<T>> {
        let length_bytes = T::shape_bytes(shape.clone()).map_err(|error| self.cannot_build::<T>(error))?;
        let loan = self.loan_of_type(length_bytes)?;
        let view = T::build(loan, shape).map_err(|error| self.cannot_build::<T>(error))?;
        Ok(Loan { view })
    }

    /// Loans memory and copies the message into it.
    pub(crate) fn copy_message<T: Message>(&mut self, message: &T) -> Result<GenericLoan> {
        let length_bytes = message.body_bytes().map_err(|error| self.cannot_build::<T>(error))?;
        let mut loan = self.loan_for_copy(length_bytes)?;
        message.write_body(loan.bytes_mut()).map_err(|error| self.cannot_build::<T>(error))?;
        Ok(loan)
    }

    #[cold]
    fn cannot_build<T: Message>(&self, error: gantry_cdr::Error) -> Error {
        Error::CannotBuild { topic: self.topic().to_owned(), type_name: T::TYPE_NAME, error }
    }
}

impl<T> Deref for Publisher<T> {
    type Target = GenericPublisher;

    #[inline]
    fn deref(&self) -> &GenericPublisher {
        &self.generic
    }
}

impl<T: Message> Loan<T> {
    /// Publishes the loan's memory with `publish`, which returns the memory if it fails.
    #[inline]
    pub(crate) fn publish_with<R>(
        self,
        publish: impl FnOnce(GenericLoan) -> std::result::Result<R, PublishError<GenericLoan>>,
    ) -> std::result::Result<R, PublishError<Loan<T>>> {
        let (loan, layout) = self.view.into_parts();
        publish(loan).map_err(|PublishError { loan, error }| PublishError {
            loan: Loan { view: T::in_memory(loan, layout) },
            error,
        })
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
