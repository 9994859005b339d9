//! A subscription to one message type, and its samples: a typed layer over the generic one.

use crate::{
    error::{Error, Result},
    generic_subscription::{GenericSample, GenericSubscription},
    message::Message,
    publisher::as_message,
};
use gantry_shm::SampleInfo;
use std::{marker::PhantomData, ops::Deref, os::fd::BorrowedFd, time::Duration};

/// Takes messages of type `T`; belongs to one thread at a time.
#[derive(Debug)]
pub struct Subscription<T> {
    generic: GenericSubscription,
    message: PhantomData<fn() -> T>,
}

/// A taken message, in place. It owns its loan: keep it, send it to another thread, drop it in any order.
///
/// # Real-time
/// Reading and dropping it neither allocates, blocks nor makes system calls, while its subscription exists.
#[derive(Debug)]
pub struct Sample<T> {
    generic: GenericSample,
    message: PhantomData<T>,
}

impl<T: Message> Subscription<T> {
    pub(crate) fn new(generic: GenericSubscription) -> Subscription<T> {
        Subscription { generic, message: PhantomData }
    }

    /// The next message, in place; `None` if there is none now. Publishers take turns.
    ///
    /// # Errors
    /// A sample of another length than `T` has; a publisher whose memory makes no sense (it is then left out for good); the
    /// process forked.
    ///
    /// # Real-time
    /// No allocation, lock or system call. When publishers came or went since the last call, or more samples are held than
    /// ever before, lists grow or shrink here; when a publisher's file grew, one system call looks how far.
    pub fn take(&mut self) -> Result<Option<Sample<T>>> {
        let Some(generic) = self.generic.take()? else { return Ok(None) };
        let found_bytes = generic.bytes().len();
        if found_bytes != size_of::<T>() {
            return Err(Error::WrongLength {
                topic: self.topic().to_owned(),
                type_name: T::TYPE_NAME,
                expected_bytes: size_of::<T>(),
                found_bytes,
            });
        }
        Ok(Some(Sample { generic, message: PhantomData }))
    }

    /// Waits until there is something to take; `false` if there was nothing within `timeout`. A bounded spin (none where
    /// only one CPU is usable), then a futex.
    ///
    /// # Errors
    /// The time is over, no publisher is matched and there is one of another type
    /// ([`MemoryError::TypeMismatch`](crate::MemoryError::TypeMismatch)); as [`Subscription::take`].
    pub fn wait(&mut self, timeout: Duration) -> Result<bool> {
        self.generic.wait(timeout)
    }

    /// A descriptor that is readable while there is something to take, for programs that wait in epoll or poll; take until there
    /// is nothing more before waiting on it again. [`Subscription::wait`] is quicker.
    ///
    /// # Errors
    /// No descriptor could be made; the process forked.
    pub fn descriptor(&mut self) -> Result<BorrowedFd<'_>> {
        self.generic.descriptor()
    }

    /// How many publishers are matched now. Control path.
    ///
    /// # Errors
    /// As [`Subscription::take`].
    pub fn publisher_count(&mut self) -> Result<usize> {
        self.generic.publisher_count()
    }

    /// Samples that left the history before they were taken, since the subscription was made.
    #[must_use]
    pub fn overwritten(&self) -> u64 {
        self.generic.overwritten()
    }

    /// Why publishers of this topic are not matched (another type, QoS that do not agree), a sentence each.
    #[must_use]
    pub fn mismatches(&self) -> Vec<String> {
        self.generic.mismatches()
    }

    /// The topic's full name.
    #[must_use]
    pub fn topic(&self) -> &str {
        self.generic.topic()
    }
}

impl<T: Message> Sample<T> {
    /// Sequence, times, and which publisher it came from.
    #[must_use]
    pub fn message_info(&self) -> SampleInfo {
        self.generic.message_info()
    }
}

impl<T: Message> Deref for Sample<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        as_message!(T::ref_from_bytes(self.generic.bytes()))
    }
}
