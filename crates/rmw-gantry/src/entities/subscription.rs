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
    /// The QoS that the library granted.
    pub qos: Qos,
    /// The name of the topic, as the program gave it.
    pub topic: CString,
    loan_name: &'static LoanName,
    /// The messages that a program holds.
    held: Mutex<Vec<Held>>,
    /// The messages that the program returned, the oldest first; their long sequences are empty. They are used again,
    /// and end with the subscription.
    returned: Mutex<VecDeque<MessageInPlace>>,
    taken: AtomicU64,
    /// The number of losses that the event of lost messages has counted.
    told_lost: AtomicU64,
    pub events: Arc<EndpointEvents<SubscriptionEvent>>,
}

/// The number of returned messages that stay empty. A program must not use the pointer to a returned message; if it
/// does, it finds an empty message for this number of returns, then perhaps a later message, and not freed memory.
const EMPTY_RETURNED: usize = 16;

/// The samples whose bytes the program may use until it ends: a callback moved sequences out of their messages.
static NOT_GIVEN_BACK: Mutex<Vec<(GenericSample, LoanedBytes)>> = Mutex::new(Vec::new());

/// A message that a program holds.
struct Held {
    /// The message, if it has sequences in place; it ends before its sample. `None` for a plain message, whose
    /// struct is the sample's bytes.
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
            told_lost: AtomicU64::new(0),
            events: EndpointEvents::new(),
        }
    }

    /// The next sample that passes the filters, and the number of this take.
    pub fn take(&self) -> Result<Option<(GenericSample, u64)>> {
        let (sample, lost, is_unannounced) = self.source.library.with(|library| {
            let sample = library.take()?;
            Ok((sample, library.lost(), library.has_room_filled()))
        })?;
        if is_unannounced {
            self.source.announce(&self.context);
        }
        self.tell_lost(lost);
        Ok(sample.map(|sample| (sample, self.taken.fetch_add(1, Relaxed) + 1)))
    }

    /// Calls `look` with the content filter, if there is one.
    pub fn with_filter<R>(&self, look: impl FnOnce(Option<&ContentFilter>) -> Result<R>) -> Result<R> {
        self.source.library.with(|library| look(library.filter()))
    }

    /// Sets or removes the content filter, for waiting messages and for later ones.
    pub fn set_filter(&self, filter: Option<ContentFilter>) -> Result<()> {
        self.source.library.with(|library| Ok(library.set_filter(filter)?))?;
        self.source.announce(&self.context); // messages that a KEEP_ALL subscription left in the history
        Ok(())
    }

    /// The next sample that `read` accepts, and the number of its take. A sample that is not a valid message of the
    /// type is skipped and counted as lost, so that an invalid publisher does not end the programs of other nodes.
    pub fn take_valid(
        &self,
        mut read: impl FnMut(&GenericSample) -> Result<()>,
    ) -> Result<Option<(GenericSample, u64)>> {
        take_valid(|| self.take(), |(sample, _)| read(sample), |(sample, _), why| self.skip_malformed(sample, why))
    }

    /// Counts a sample that is not a message of the type as lost.
    pub fn skip_malformed(&self, sample: &GenericSample, why: impl Display) -> Result<()> {
        let lost = self.source.library.with(|library| {
            library.library.skip_malformed(sample, why);
            Ok(library.lost())
        })?;
        self.tell_lost(lost);
        Ok(())
    }

    /// Adds new losses to the event of lost messages. `lost` is the number of all losses until now.
    fn tell_lost(&self, lost: u64) {
        let told = self.told_lost.load(Relaxed);
        // Relaxed, as for all of these counters: no counter orders other memory.
        if lost > told && self.told_lost.compare_exchange(told, lost, Relaxed, Relaxed).is_ok() {
            self.events.add(RMW_EVENT_MESSAGE_LOST, &Change::from_total(lost - told));
        }
    }

    /// The number of messages that were available and are not available any more: taken, overwritten or expired.
    pub fn gone(&self) -> u64 {
        self.source.library.with(|library| Ok(library.gone())).unwrap_or(0)
    }

    /// The next message, which the program holds until it returns it. `info` gets the message, its sample and the
    /// number of the take.
    ///
    /// # Errors
    /// Messages of the type cannot be used in place: they have to be deserialised.
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
            // SAFETY: the message is held beside its sample, and ends before it. Samples in shared memory that were
            // published do not change.
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

    /// A message with the default values of its fields: the oldest one that was returned, or a new one.
    fn new_message(&self) -> Result<MessageInPlace> {
        let mut returned = lock(&self.returned);
        let oldest = if returned.len() > EMPTY_RETURNED { returned.pop_front() } else { None };
        drop(returned);
        let Some(mut message) = oldest else { return MessageInPlace::new(&self.message_type) };
        message.reset();
        Ok(message)
    }

    /// Releases a message that a program held.
    ///
    /// # Errors
    /// The message is not on loan, or the program changed a sequence that lies in place.
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
        self.source.close(); // the listener may hold the source for a moment
        self.events.close();
    }
}
