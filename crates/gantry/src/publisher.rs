//! A publisher of one message type, and its loans: a typed layer over the generic one.

use crate::{
    error::Result,
    generic_publisher::{GenericLoan, GenericPublisher, Unpublished},
    message::Message,
};
use std::{
    marker::PhantomData,
    ops::{Deref, DerefMut},
    time::Duration,
};

/// Publishes messages of type `T`; belongs to one thread at a time.
#[derive(Debug)]
pub struct Publisher<T> {
    generic: GenericPublisher,
    message: PhantomData<fn(T)>,
}

/// A message on loan: shared memory, to be written in place and given to [`Publisher::publish`].
///
/// It holds what its slot last held (zeros at first): write every field that readers look at.
pub struct Loan<T> {
    generic: GenericLoan,
    message: PhantomData<T>,
}

impl<T: Message> Publisher<T> {
    pub(crate) fn new(generic: GenericPublisher) -> Publisher<T> {
        Publisher { generic, message: PhantomData }
    }

    /// Memory for one message. Several loans may be out at once; one that is dropped unpublished goes back.
    ///
    /// # Errors
    /// All slots are in use and there is no room for more; the process forked.
    ///
    /// # Real-time
    /// No allocation, lock or system call while a slot is free or can be reclaimed; otherwise memory is added. Memory that was
    /// of no use for long is handed back here (system calls).
    pub fn loan(&mut self) -> Result<Loan<T>> {
        Ok(Loan { generic: self.generic.loan(size_of::<T>())?, message: PhantomData })
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
    pub fn publish(&mut self, loan: Loan<T>) -> std::result::Result<u64, Unpublished<Loan<T>>> {
        self.generic.publish(loan.generic).map_err(|Unpublished { loan, error }| Unpublished {
            loan: Loan { generic: loan, message: PhantomData },
            error,
        })
    }

    /// Copies `message` into a slot and publishes that; returns its sequence.
    ///
    /// # Errors
    /// As [`Publisher::loan`] and [`Publisher::publish`].
    pub fn publish_copy(&mut self, message: &T) -> Result<u64> {
        self.generic.publish_copy(message.as_bytes())
    }

    /// How many subscriptions are matched now. Control path.
    ///
    /// # Errors
    /// A subscription's memory cannot be mapped; the process forked.
    pub fn subscription_count(&mut self) -> Result<usize> {
        self.generic.subscription_count()
    }

    /// Waits until at least `count` subscriptions are matched; `false` if they were not within `timeout`
    /// ([`Publisher::mismatches`] may say why). Control path.
    ///
    /// # Errors
    /// The time is over and there is a subscription of another type
    /// ([`MemoryError::TypeMismatch`](crate::MemoryError::TypeMismatch)); as [`Publisher::subscription_count`].
    pub fn wait_for_subscriptions(&mut self, count: usize, timeout: Duration) -> Result<bool> {
        self.generic.wait_for_subscriptions(count, timeout)
    }

    /// Why subscriptions to this topic are not matched (another type, QoS that do not agree), a sentence each. Control
    /// path.
    ///
    /// # Errors
    /// As [`Publisher::subscription_count`].
    pub fn mismatches(&self) -> Result<Vec<String>> {
        self.generic.mismatches()
    }

    /// The topic's full name.
    #[must_use]
    pub fn topic(&self) -> &str {
        self.generic.topic()
    }
}

impl<T> std::fmt::Debug for Loan<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.generic.fmt(f)
    }
}

/// Bytes of a loan or sample as a `T`; their number and alignment were checked when it was made.
macro_rules! as_message {
    ($view:expr) => {
        match $view {
            Ok(message) => message,
            Err(_) => unreachable!("the bytes of a {} have its size and alignment", T::TYPE_NAME),
        }
    };
}
pub(crate) use as_message;

impl<T: Message> Deref for Loan<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        as_message!(T::ref_from_bytes(self.generic.bytes()))
    }
}

impl<T: Message> DerefMut for Loan<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        as_message!(T::mut_from_bytes(self.generic.bytes_mut()))
    }
}
