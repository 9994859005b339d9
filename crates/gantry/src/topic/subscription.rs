//! A subscription to one message type, and its samples: a typed layer over the generic one.

use super::{
    events::SubscriptionEvents,
    generic_subscription::{GenericSample, GenericSubscription},
};
use crate::{
    error::{Error, Result},
    wait::{TakeFuture, TakeSource, WaitSource, Waitable},
};
use gantry_cdr::{ByteOrder, Message, View};
use gantry_shm::SampleInfo;
use std::{marker::PhantomData, ops::Deref, os::fd::BorrowedFd, time::Duration};

/// Takes messages of type `T`; belongs to one thread at a time.
///
/// # Real-time
/// Making and dropping it is control path; of each method it is said apart.
#[derive(Debug)]
pub struct Subscription<T> {
    generic: GenericSubscription,
    message: PhantomData<fn() -> T>,
}

/// A taken message, in place. It owns its loan: keep it, send it to another thread, drop it in any order.
///
/// It derefs to the message's view: to the struct itself if it is plain, else to what has a getter for each field.
///
/// # Real-time
/// Reading and dropping it neither allocates, blocks nor makes system calls, while its subscription exists.
pub struct Sample<T: Message> {
    view: T::View<GenericSample>,
}

impl<T: Message> Subscription<T> {
    pub(crate) fn new(generic: GenericSubscription) -> Subscription<T> {
        Subscription { generic, message: PhantomData }
    }

    /// The next message, in place; `None` if there is none now. Publishers take turns; what is older than its publisher's
    /// lifespan is passed over. The message is checked once, here, in
    /// time proportional to its fields and texts, not to its bytes. It lies in its publisher's memory: a publisher that is not
    /// trusted could change it afterwards; see [`Subscription::take_copy`].
    ///
    /// # Errors
    /// A sample that is no `T`: it is passed over; a publisher whose memory makes no sense (it is then left out for good); the
    /// process forked.
    ///
    /// # Real-time
    /// No allocation, lock or system call. When publishers came or went since the last call, or more samples are held than
    /// ever before, lists grow or shrink here; when a publisher's file grew, one system call looks how far.
    #[inline]
    pub fn take(&mut self) -> Result<Option<Sample<T>>> {
        let Some(sample) = self.generic.take()? else { return Ok(None) };
        Sample::new(sample).map(Some).map_err(|error| self.malformed(error))
    }

    /// The next message, in place, when there is one: for async runtimes, of any kind. It costs a hop over the control thread.
    ///
    /// ```no_run
    /// # use gantry::{Subscription, gantry_cdr::Message};
    /// # async fn example<T: Message>(mut subscription: Subscription<T>) -> gantry::Result<()> {
    /// loop {
    ///     let sample = subscription.take_async().await?;
    ///     println!("{:?}", sample.message_info());
    /// }
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Subscription::take`].
    ///
    /// # Real-time
    /// Not for real-time threads: each wait costs locks, system calls and a hop over the control thread.
    pub fn take_async(&mut self) -> TakeFuture<'_, Subscription<T>> {
        TakeFuture::new(self)
    }

    /// A copy of the next message in private memory, for readers that do not trust the writer: all bytes are copied once, and
    /// what was copied is checked. Allocates; [`Subscription::take_copy_into`] does so only for what grows.
    ///
    /// # Errors
    /// As [`Subscription::take`].
    ///
    /// # Real-time
    /// As [`Subscription::take_copy_into`], but for the allocation of the message.
    pub fn take_copy(&mut self) -> Result<Option<(Box<T>, SampleInfo)>> {
        let Some(sample) = self.generic.take()? else { return Ok(None) };
        let mut message = T::new_box();
        self.copy(&sample, &mut message)?;
        Ok(Some((message, sample.message_info())))
    }

    /// As [`Subscription::take_copy`], over `message`, whose allocations are kept. After an error it is a mixture of old and new.
    ///
    /// # Errors
    /// As [`Subscription::take`].
    ///
    /// # Real-time
    /// As [`Subscription::take`], but it allocates for what grows; takes time in the number of bytes.
    pub fn take_copy_into(&mut self, message: &mut T) -> Result<Option<SampleInfo>> {
        let Some(sample) = self.generic.take()? else { return Ok(None) };
        self.copy(&sample, message)?;
        Ok(Some(sample.message_info()))
    }

    fn copy(&mut self, sample: &GenericSample, message: &mut T) -> Result<()> {
        message.read_body(sample.bytes(), ByteOrder::LittleEndian).map_err(|error| self.malformed(error))?;
        self.generic.count_copy();
        Ok(())
    }

    #[cold]
    fn malformed(&self, error: gantry_cdr::Error) -> Error {
        Error::Malformed { topic: self.topic().to_owned(), type_name: T::TYPE_NAME, error }
    }

    /// Waits until there is something to take; `false` if there was nothing within `timeout`. A bounded spin (none where
    /// only one CPU is usable), then a futex.
    ///
    /// # Errors
    /// The time is over, no publisher is matched and there is one of another type
    /// ([`EngineError::TypeMismatch`](crate::EngineError::TypeMismatch)); as [`Subscription::take`].
    ///
    /// # Real-time
    /// Not for real-time threads: it sleeps (a bounded spin, then a futex). Who must not looks with [`Subscription::take`].
    pub fn wait(&mut self, timeout: Duration) -> Result<bool> {
        self.generic.wait(timeout)
    }

    /// Whether [`Subscription::wait`] spins before it sleeps: `true` from the start. A spin finds what comes within 20 µs
    /// without a sleep and a wake-up, and costs CPU time if nothing does (so it gets shorter then); without it every wait for something
    /// that is not there yet sleeps at once. Wait sets and executors wait as they do.
    ///
    /// # Real-time
    /// No allocation or lock; system calls and files that tell how many CPUs are usable. Call it before the work begins.
    pub fn set_busy_wait(&mut self, on: bool) {
        self.generic.set_busy_wait(on);
    }

    /// A descriptor that is readable while there is something to take, for programs that wait in epoll or poll; take until there
    /// is nothing more before waiting on it again. [`Subscription::wait`] is quicker.
    ///
    /// # Errors
    /// No descriptor could be made; the process forked.
    ///
    /// # Real-time
    /// Not for real-time threads: it makes system calls, and while somebody waits on it, so does the take that finds nothing more.
    pub fn descriptor(&mut self) -> Result<BorrowedFd<'_>> {
        self.generic.descriptor()
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
        self.generic.events()
    }

    /// How many publishers are matched now. Control path.
    ///
    /// # Errors
    /// As [`Subscription::take`].
    ///
    /// # Real-time
    /// Not for real-time threads: it takes locks and makes system calls.
    pub fn publisher_count(&mut self) -> Result<usize> {
        self.generic.publisher_count()
    }

    /// Samples that left the history before they were taken, since the subscription was made.
    ///
    /// # Real-time
    /// No allocation, lock or system call.
    #[must_use]
    pub fn overwritten(&self) -> u64 {
        self.generic.overwritten()
    }

    /// Samples that were older than their publisher's lifespan when they would have been taken, since the subscription was
    /// made.
    ///
    /// # Real-time
    /// No allocation, lock or system call.
    #[must_use]
    pub fn expired(&self) -> u64 {
        self.generic.expired()
    }

    /// Why publishers of this topic are not matched (another type, QoS that do not agree), a sentence each.
    ///
    /// # Real-time
    /// Not for real-time threads: it takes locks and makes system calls.
    #[must_use]
    pub fn mismatches(&self) -> Vec<String> {
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

impl<T: Message> WaitSource for Subscription<T> {
    fn is_lossy(&self) -> bool {
        true
    }

    fn subscription(&mut self) -> Option<&mut gantry_shm::Subscription> {
        self.generic.subscription()
    }
}

impl<T: Message> Waitable for Subscription<T> {
    fn is_ready(&mut self) -> Result<bool> {
        self.generic.is_ready()
    }
}

impl<T: Message> TakeSource for Subscription<T> {
    type Taken = Sample<T>;

    fn take_next(&mut self) -> Result<Option<Sample<T>>> {
        self.take()
    }

    fn time_ns(&self, sample: &Sample<T>) -> Option<u64> {
        Some(sample.message_info().source_time_ns)
    }
}

impl<T: Message> Sample<T> {
    /// Checks that the bytes are such a message.
    #[inline]
    pub(crate) fn new(sample: GenericSample) -> gantry_cdr::Result<Sample<T>> {
        Ok(Sample { view: T::view(sample)? })
    }

    /// Sequence, times, and which publisher it came from.
    ///
    /// # Real-time
    /// No allocation, lock or system call.
    #[inline]
    #[must_use]
    pub fn message_info(&self) -> SampleInfo {
        self.view.memory().message_info()
    }

    /// A copy of the message in an owned struct. Allocates.
    ///
    /// # Errors
    /// The publisher changed the message after it had published it, which Gantry's do not.
    ///
    /// # Real-time
    /// Allocates; takes time in the number of bytes.
    pub fn to_message(&self) -> gantry_cdr::Result<Box<T>> {
        self.view.to_message()
    }
}

impl<T: Message> std::fmt::Debug for Sample<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.view.memory().fmt(f)
    }
}

impl<T: Message> Deref for Sample<T> {
    type Target = <T::View<GenericSample> as View<GenericSample>>::Target;

    #[inline]
    fn deref(&self) -> &Self::Target {
        self.view.target()
    }
}
