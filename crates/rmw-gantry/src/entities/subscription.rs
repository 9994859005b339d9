//! Subscriptions.

use super::{
    content_filter::ContentFilter, context::Context, endpoint_events::EndpointEvents, event::Change,
    filtered_subscription::FilteredSubscription, library::Close, source::Source, take_valid,
};
use crate::{
    fatal_signal::{LoanName, LoanedBytes},
    lock::lock,
};
use gantry::{GenericSample, GenericSubscription, Gid, Qos, SubscriptionEvent};
use rmw_abi::{
    bindings::RMW_EVENT_MESSAGE_LOST,
    failure::{Failure, Result},
    messages::{MessageInPlace, MessageType},
};
use std::{
    collections::VecDeque,
    ffi::{CString, c_void},
    fmt::Display,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::*},
    },
};

/// A subscription, from which any thread may take.
pub struct Subscription {
    pub context: Arc<Context>,
    pub source: Arc<Source<FilteredSubscription>>,
    pub gid: Gid,
    pub message_type: Arc<MessageType>,
    /// The QoS that `gantry` granted.
    pub qos: Qos,
    /// The name of the topic, as the program gave it.
    pub topic: CString,
    loan_name: &'static LoanName,
    /// The loaned messages that the program has not returned.
    held: Mutex<Vec<Held>>,
    /// The messages that the program returned, oldest first, without their long sequences. Later loans use these
    /// messages again; the subscription frees them at its end.
    returned: Mutex<VecDeque<MessageInPlace>>,
    taken: AtomicU64,
    /// The number of losses that the event `RMW_EVENT_MESSAGE_LOST` has counted.
    reported_lost: AtomicU64,
    pub events: Arc<EndpointEvents<SubscriptionEvent>>,
}

/// The number of returned messages that are not used again yet. They guard against a program that wrongly uses a
/// message after its return: for this number of returns it finds an empty message, and never freed memory.
const EMPTY_RETURNED: usize = 16;

/// Samples that are never released, because a callback moved sequences out of their messages: the program may use the
/// bytes until it ends.
static NOT_GIVEN_BACK: Mutex<Vec<(GenericSample, LoanedBytes)>> = Mutex::new(Vec::new());

/// A loaned message that the program has not returned.
struct Held {
    /// The message, if its sequences point to the bytes of the sample. It is dropped before its sample. `None` for a
    /// plain message, whose struct is the bytes of the sample.
    message: Option<MessageInPlace>,
    loaned_bytes: LoanedBytes,
    sample: GenericSample,
}

impl Held {
    fn as_ptr(&self) -> *mut c_void {
        match &self.message {
            Some(message) => message.as_ptr(),
            None => self.sample.bytes().as_ptr().cast_mut().cast(),
        }
    }
}

impl Subscription {
    pub fn new(
        context: Arc<Context>,
        library: GenericSubscription,
        message_type: Arc<MessageType>,
        qos: Qos,
        topic: CString,
        ignores_local_publications: bool,
    ) -> Subscription {
        let gid = library.gid();
        let loan_name = LoanName::new(&message_type.description().name, &topic.to_string_lossy());
        let library = FilteredSubscription::new(library, &qos, ignores_local_publications);
        Subscription {
            context,
            source: Arc::new(Source::new(library)),
            gid,
            message_type,
            qos,
            topic,
            loan_name,
            held: Mutex::default(),
            returned: Mutex::default(),
            taken: AtomicU64::new(0),
            reported_lost: AtomicU64::new(0),
            events: EndpointEvents::new(),
        }
    }

    /// Takes the next sample that passes the filters. Also returns the number of samples that were taken so far.
    pub fn take(&self) -> Result<Option<(GenericSample, u64)>> {
        let (sample, lost, is_unannounced) = self.source.library.with(|library| {
            let sample = library.take()?;
            Ok((sample, library.lost(), library.has_room_filled()))
        })?;
        if is_unannounced {
            self.source.announce(&self.context);
        }
        self.report_lost(lost);
        Ok(sample.map(|sample| (sample, self.taken.fetch_add(1, Relaxed) + 1)))
    }

    /// Calls `look` with the content filter, if there is one.
    pub fn with_filter<R>(&self, look: impl FnOnce(Option<&ContentFilter>) -> Result<R>) -> Result<R> {
        self.source.library.with(|library| look(library.filter()))
    }

    /// Sets or removes the content filter. The filter applies to waiting messages and to later ones.
    pub fn set_filter(&self, filter: Option<ContentFilter>) -> Result<()> {
        self.source.library.with(|library| Ok(library.set_filter(filter)?))?;
        self.source.announce(&self.context); // for messages that wait in the history of a KEEP_ALL subscription
        Ok(())
    }

    /// Takes the next sample that `read` can deserialise, and returns it with the number of its take. A malformed
    /// sample is skipped and counted as lost. An error would end programs because of a faulty publisher.
    pub fn take_valid(
        &self,
        mut read: impl FnMut(&GenericSample) -> Result<()>,
    ) -> Result<Option<(GenericSample, u64)>> {
        take_valid(|| self.take(), |(sample, _)| read(sample), |(sample, _), why| self.skip_malformed(sample, why))
    }

    /// Counts a malformed sample as lost, and logs it.
    pub fn skip_malformed(&self, sample: &GenericSample, why: impl Display) -> Result<()> {
        let lost = self.source.library.with(|library| {
            library.library.skip_malformed(sample, why);
            Ok(library.lost())
        })?;
        self.report_lost(lost);
        Ok(())
    }

    /// Adds new losses to the event `RMW_EVENT_MESSAGE_LOST`. `lost` is the number of all losses until now.
    fn report_lost(&self, lost: u64) {
        let reported = self.reported_lost.load(Relaxed);
        // Relaxed, like all counters here: a counter orders no other memory.
        if lost > reported && self.reported_lost.compare_exchange(reported, lost, Relaxed, Relaxed).is_ok() {
            self.events.add(RMW_EVENT_MESSAGE_LOST, &Change::from_total(lost - reported));
        }
    }

    /// The number of messages that arrived and cannot be taken any more: they were taken, overwritten, or too old for
    /// the lifespan.
    pub fn gone(&self) -> u64 {
        self.source.library.with(|library| Ok(library.gone())).unwrap_or(0)
    }

    /// Takes the next message on loan: the program holds the message until it calls `return_loan`. `info` gets the
    /// address of the message, its sample and the number of the take.
    ///
    /// # Errors
    /// Messages of the type have to be deserialised, so they cannot be loaned.
    pub fn loan(&self, info: impl FnOnce(*const c_void, &GenericSample, u64)) -> Result<Option<*mut c_void>> {
        let message_type = &self.message_type;
        if !message_type.can_be_loaned() {
            let name = &message_type.description().name;
            return Err(Failure::unsupported(&format!("loans of {name}, whose messages have to be deserialised,")));
        }
        let is_plain = message_type.plain_bytes().is_some();
        let mut message = if is_plain { None } else { Some(self.new_message()?) };
        let valid = self.take_valid(|sample| match &mut message {
            None => message_type.check_plain(sample.bytes()),
            // SAFETY: `Held` keeps the message and its sample, and drops the message first. A published sample does not
            // change.
            Some(message) => unsafe { message.read(sample.bytes()) },
        });
        let (sample, number) = match valid {
            Ok(Some(valid)) => valid,
            nothing => {
                lock(&self.returned).extend(message);
                return nothing.map(|_| None);
            }
        };
        let has_sequences = message.as_ref().is_some_and(MessageInPlace::has_sequences_in_place);
        let loaned_bytes = LoanedBytes::new(sample.bytes().as_ptr_range(), has_sequences, self.loan_name);
        let held = Held { message, loaned_bytes, sample };
        let address = held.as_ptr();
        info(address, &held.sample, number);
        lock(&self.held).push(held);
        Ok(Some(address))
    }

    /// Returns a message with the default values of its fields: the oldest returned message, or a new one.
    fn new_message(&self) -> Result<MessageInPlace> {
        let mut returned = lock(&self.returned);
        let oldest = if returned.len() > EMPTY_RETURNED { returned.pop_front() } else { None };
        drop(returned);
        let Some(mut message) = oldest else { return MessageInPlace::new(&self.message_type) };
        message.reset();
        Ok(message)
    }

    /// Takes a loaned message back from the program.
    ///
    /// # Errors
    /// The message is not on loan, or the program changed a sequence that points to shared memory.
    pub fn return_loan(&self, message: *const c_void) -> Result<()> {
        let mut held = lock(&self.held);
        let index = held.iter().position(|held| std::ptr::eq(held.as_ptr(), message));
        let index = index.ok_or_else(|| {
            Failure::error(format_args!("the message at {message:p} is not on loan from this subscription"))
        })?;
        let Held { message, loaned_bytes, sample } = held.swap_remove(index);
        drop(held);
        let Some(mut message) = message else { return Ok(()) };
        let ended = message.end();
        if ended.is_err() {
            lock(&NOT_GIVEN_BACK).push((sample, loaned_bytes));
        }
        lock(&self.returned).push_back(message);
        ended
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.source.end_callback(&self.context);
        self.source.close(); // explicit, because the listener's thread may still hold an `Arc` of the source
        self.events.close();
    }
}
