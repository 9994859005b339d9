//! The typed publisher and its loans: [`GenericPublisher`] with the view of `T`.

use super::generic_publisher::{GenericLoan, GenericPublisher, PublishError};
use crate::error::{Error, Result};
use gantry_cdr::{FixedSize, Message, Shape, View};
use gantry_shm::{Gid, SourceTime};
use std::{
    marker::PhantomData,
    ops::{Deref, DerefMut},
    time::Duration,
};

/// A publisher of messages of type `T`. A publisher belongs to one thread at a time, and derefs to its
/// [`GenericPublisher`], which has the methods that do not depend on `T`, and whose documentation names the
/// real-time methods.
#[derive(Debug)]
pub struct Publisher<T> {
    generic: GenericPublisher,
    message: PhantomData<fn(T)>,
}

/// A message on loan: shared memory, to be written in place and given to [`Publisher::publish`]; see [`GenericLoan`].
///
/// A loan derefs to the message's view: to the struct itself if the message is plain, otherwise to a view that has
/// `set_…` for numbers and `…_mut` for the rest.
///
/// # Defaults
/// A loan starts from the message's defaults: texts have the values from the loan's shape, and all other fields have
/// the values of the definition, or zero. There is one exception, since clearing an image would cost as much as
/// writing it: **an array or a sequence of more than 4 KiB ([`MAX_DEFAULT_BYTES`](gantry_cdr::MAX_DEFAULT_BYTES))
/// holds old bytes**, so write all of it. The loans of [`loan_uninit`](Publisher::loan_uninit) and
/// [`loan_uninit_with`](Publisher::loan_uninit_with) have no defaults: write every number. The rule is the same for
/// requests and responses of services, and for [`Message::build`].
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

    /// Makes another publisher of the same topic, as [`GenericPublisher::try_clone`].
    ///
    /// # Errors
    /// The errors of [`Node::create_publisher`](crate::Node::create_publisher).
    pub fn try_clone(&self) -> Result<Publisher<T>> {
        Ok(Publisher::new(self.generic.try_clone()?))
    }

    /// Loans memory for one message, if all messages of the type have the same length; otherwise see
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

    /// As [`Publisher::loan`], without defaults, for a program that writes every number of the message: the loan holds
    /// the slot's old contents, which are valid values of an older message. This saves the time to write the defaults.
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

    /// Loans memory for one message with this [shape](Shape) (texts, and lengths of sequences). The message starts
    /// from its [defaults](Loan#defaults). See [`GenericPublisher::loan`].
    ///
    /// # Errors
    /// A text or a sequence is longer than its bound; as [`GenericPublisher::loan`].
    #[inline]
    pub fn loan_with(&mut self, shape: impl Shape<T>) -> Result<Loan<T>> {
        self.generic.loan_message(shape)
    }

    /// As [`Publisher::loan_with`], without defaults, for a program that writes every number of the message: numbers,
    /// and arrays and sequences of numbers, hold the slot's old contents, which are valid values of an older message.
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

    /// Publishes a loan in place and returns its sequence, as [`GenericPublisher::publish`].
    ///
    /// # Errors
    /// As that method.
    #[inline]
    pub fn publish(&mut self, loan: Loan<T>) -> std::result::Result<u64, PublishError<Loan<T>>> {
        let time = self.generic.clock.now();
        self.publish_at(loan, time)
    }

    /// Publishes a loan in place with a time that the caller gives, as [`GenericPublisher::publish_at`].
    ///
    /// # Errors
    /// As that method.
    #[inline]
    pub fn publish_at(&mut self, loan: Loan<T>, time: SourceTime) -> std::result::Result<u64, PublishError<Loan<T>>> {
        loan.publish_with(|loan| self.generic.publish_at(loan, time))
    }

    /// The copy path: serialises `message` into a slot, publishes the slot and returns its sequence.
    ///
    /// # Errors
    /// A text or a sequence is longer than its bound; as [`GenericPublisher::publish_copy`].
    pub fn publish_copy(&mut self, message: &T) -> Result<u64> {
        let loan = self.generic.copy_message(message)?;
        self.generic.publish_copied(loan)
    }

    /// As [`GenericPublisher::gid`].
    #[must_use]
    pub fn gid(&self) -> Gid {
        self.generic.gid()
    }

    /// As [`GenericPublisher::subscription_count`].
    ///
    /// # Errors
    /// As that method.
    pub fn subscription_count(&mut self) -> Result<usize> {
        self.generic.subscription_count()
    }

    /// As [`GenericPublisher::wait_for_subscriptions`].
    ///
    /// # Errors
    /// As that method.
    pub fn wait_for_subscriptions(&mut self, count: usize, timeout: Duration) -> Result<bool> {
        self.generic.wait_for_subscriptions(count, timeout)
    }
}

/// The methods of a typed publisher that servers need for their generic publishers.
impl GenericPublisher {
    /// As [`Publisher::loan_with`].
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
    /// Publishes the loan's memory by a call of `publish`, which returns the memory if it fails.
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
