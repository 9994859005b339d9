//! The typed subscription and its samples: a [`GenericSubscription`] whose messages are accessed through the view of
//! `T`.

use super::{
    generic_subscription::{GenericSample, GenericSubscription},
    message_info::MessageInfo,
};
use crate::{
    error::{Error, Result},
    wait::{TakeFuture, TakeSource, WaitSource, Waitable},
};
use gantry_cdr::{ByteOrder, Message, View};
use gantry_shm::{Gid, SampleInfo};
use std::{marker::PhantomData, ops::Deref, os::fd::BorrowedFd, time::Duration};

/// A subscription that takes messages of type `T`. A subscription belongs to one thread at a time. It dereferences to
/// its [`GenericSubscription`], which has the methods that do not depend on `T` and documents which methods are
/// real-time.
#[derive(Debug)]
pub struct Subscription<T> {
    generic: GenericSubscription,
    /// A buffer for `take_copy`: the bytes of a message before they are deserialised.
    body: Vec<u8>,
    message: PhantomData<fn() -> T>,
}

/// A taken message, which is read in place. See also [`GenericSample`].
///
/// A sample dereferences to the message's view. For a plain message, this is the struct itself; otherwise it has a
/// getter for each field.
pub struct Sample<T: Message> {
    view: T::View<GenericSample>,
}

impl<T: Message> Subscription<T> {
    pub(crate) fn new(generic: GenericSubscription) -> Subscription<T> {
        Subscription { generic, body: Vec::new(), message: PhantomData }
    }

    /// Takes the next message, to be read in place, as [`GenericSubscription::take`] does.
    ///
    /// The message is checked only in this take. The time of the check grows with the number of fields and the length
    /// of strings, not with the number of bytes. The message is in its publisher's memory, so a publisher that is not
    /// trusted could change it afterwards; see [`Subscription::take_copy`].
    ///
    /// # Errors
    /// The errors of [`GenericSubscription::take`]. The bytes of a sample are not a `T`: the sample is skipped and
    /// [counted](GenericSubscription::malformed), and the next take returns the sample after it. This error names the
    /// publisher, which costs a reading of the graph.
    #[inline]
    pub fn take(&mut self) -> Result<Option<Sample<T>>> {
        let Some(sample) = self.generic.take()? else { return Ok(None) };
        self.checked(sample)
    }

    #[inline]
    fn checked(&mut self, sample: GenericSample) -> Result<Option<Sample<T>>> {
        let publisher = sample.message_info().publisher_gid;
        Sample::new(sample).map(Some).map_err(|error| self.malformed(publisher, error))
    }

    /// Takes the next valid message, for callers that cannot use an error. Skips malformed samples, and logs the first,
    /// the tenth, the hundredth of them and so on. If malformed samples arrive as fast as they are skipped, the loop
    /// still ends: it skips at most the samples that waited when it skipped the first one, then returns `None`.
    pub(crate) fn take_valid(&mut self) -> Result<Option<Sample<T>>> {
        let mut left = None;
        while left != Some(0) {
            match self.take() {
                Err(error @ Error::Malformed { .. }) => self.generic.log_malformed(&error),
                taken => return taken,
            }
            left = left.map_or_else(|| Some(self.generic.engine.untaken()), |left: u64| Some(left - 1));
        }
        Ok(None)
    }

    /// Takes the next message as [`Subscription::take`] does, and also returns the time of the take.
    ///
    /// # Errors
    /// The errors of [`Subscription::take`].
    ///
    /// # Real-time
    /// The same as for [`Subscription::take`], plus the reading of two clocks.
    pub fn take_with_info(&mut self) -> Result<Option<(Sample<T>, MessageInfo)>> {
        let Some(sample) = self.take()? else { return Ok(None) };
        let info = MessageInfo::received_now(sample.message_info());
        Ok(Some((sample, info)))
    }

    /// Returns a future of the next message, for any async runtime. The control thread wakes the waiting task, which
    /// costs one more thread switch than in an executor.
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
    /// [`Error::ShutDown`](crate::Error::ShutDown); the errors of [`Subscription::take`].
    pub fn take_async(&mut self) -> TakeFuture<'_, Subscription<T>> {
        TakeFuture::new(self)
    }

    /// Takes a copy of the next message in private memory, for readers that do not trust the publisher. The bytes are
    /// copied first; then the copy is checked and deserialised. A message of fixed size whose memory layout equals CDR
    /// is copied once. Any other message is copied twice: to a buffer of the subscription, then to its fields.
    ///
    /// This method allocates. [`Subscription::take_copy_into`] allocates only if fields or the buffer must grow.
    ///
    /// # Errors
    /// The errors of [`Subscription::take`].
    pub fn take_copy(&mut self) -> Result<Option<(Box<T>, SampleInfo)>> {
        let Some(sample) = self.generic.take()? else { return Ok(None) };
        let mut message = T::new_box();
        self.copy(&sample, &mut message)?;
        Ok(Some((message, sample.message_info())))
    }

    /// Takes a copy as [`Subscription::take_copy`] does, into `message`, whose allocations are reused. After an error,
    /// `message` is a mixture of the old and the new message.
    ///
    /// # Errors
    /// The errors of [`Subscription::take`].
    ///
    /// # Real-time
    /// The same as for [`Subscription::take`], but this method allocates for fields that grow, and for messages that
    /// are longer than all earlier ones. Its time grows with the number of bytes.
    pub fn take_copy_into(&mut self, message: &mut T) -> Result<Option<SampleInfo>> {
        let Some(sample) = self.generic.take()? else { return Ok(None) };
        self.copy(&sample, message)?;
        Ok(Some(sample.message_info()))
    }

    fn copy(&mut self, sample: &GenericSample, message: &mut T) -> Result<()> {
        match message.body_mut().filter(|body| body.len() == sample.message_info().length_bytes) {
            Some(body) => {
                sample.copy_to(body);
            }
            None => {
                sample.copy_into(&mut self.body);
                let read = message.read_body(&self.body, ByteOrder::LittleEndian);
                read.map_err(|error| self.malformed(sample.message_info().publisher_gid, error))?;
            }
        }
        self.generic.engine.count_copy();
        Ok(())
    }

    #[cold]
    fn malformed(&mut self, publisher: Gid, error: gantry_cdr::Error) -> Error {
        self.generic.malformed_sample(publisher, T::TYPE_NAME, error)
    }

    /// Waits until there is something to take, as [`GenericSubscription::wait`] does.
    ///
    /// # Errors
    /// As that method.
    pub fn wait(&mut self, timeout: Duration) -> Result<bool> {
        self.generic.wait(timeout)
    }

    /// Waits until `count` publishers are matched, as [`GenericSubscription::wait_for_publishers`] does.
    ///
    /// # Errors
    /// As that method.
    pub fn wait_for_publishers(&mut self, count: usize, timeout: Duration) -> Result<bool> {
        self.generic.wait_for_publishers(count, timeout)
    }

    /// Limits the samples held at once, as [`GenericSubscription::set_max_held_samples`] does.
    pub fn set_max_held_samples(&mut self, limit: usize) {
        self.generic.set_max_held_samples(limit);
    }

    /// Switches the busy-wait on or off, as [`GenericSubscription::set_busy_wait`] does.
    pub fn set_busy_wait(&mut self, on: bool) {
        self.generic.set_busy_wait(on);
    }

    /// Returns a file descriptor for epoll or poll, as [`GenericSubscription::descriptor`] does.
    ///
    /// # Errors
    /// As that method.
    pub fn descriptor(&mut self) -> Result<BorrowedFd<'_>> {
        self.generic.descriptor()
    }

    /// Returns the number of matched publishers, as [`GenericSubscription::publisher_count`] does.
    ///
    /// # Errors
    /// As that method.
    pub fn publisher_count(&mut self) -> Result<usize> {
        self.generic.publisher_count()
    }
}

impl<T> Deref for Subscription<T> {
    type Target = GenericSubscription;

    #[inline]
    fn deref(&self) -> &GenericSubscription {
        &self.generic
    }
}

impl<T: Message> WaitSource for Subscription<T> {
    fn is_lossy(&self) -> bool {
        true
    }

    fn subscription(&mut self) -> Option<&mut gantry_shm::Subscription> {
        Some(&mut self.generic.engine)
    }
}

impl<T: Message> Waitable for Subscription<T> {}

impl<T: Message> TakeSource for Subscription<T> {
    type Taken = Sample<T>;

    fn take_next(&mut self) -> Result<Option<Sample<T>>> {
        self.take()
    }

    fn size_bytes(&self, sample: &Sample<T>) -> usize {
        sample.message_info().length_bytes
    }

    fn time_ns(&self, sample: &Sample<T>) -> Option<u64> {
        Some(sample.message_info().source_time_ns)
    }
}

impl<T: Message> Sample<T> {
    /// Checks that the bytes of a sample are a `T`, and makes the typed sample.
    #[inline]
    pub(crate) fn new(sample: GenericSample) -> gantry_cdr::Result<Sample<T>> {
        Ok(Sample { view: T::view(sample)? })
    }

    /// The sample's sequence, times and publisher.
    #[inline]
    #[must_use]
    pub fn message_info(&self) -> SampleInfo {
        self.view.memory().message_info()
    }

    /// Whether the message travelled inline, as [`GenericSample::is_inline`].
    #[inline]
    #[must_use]
    pub fn is_inline(&self) -> bool {
        self.view.memory().is_inline()
    }

    /// Copies the message into an owned struct.
    ///
    /// # Errors
    /// The sample is no longer valid CDR, because its publisher's process changed it after publishing. Gantry's
    /// publishers never write to a published sample. A change that leaves valid CDR is not detected.
    ///
    /// # Real-time
    /// Allocates. The time is proportional to the size of the message.
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
