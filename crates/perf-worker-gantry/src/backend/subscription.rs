//! Subscriptions, and the conversion of a sample to the form that `perf_test` records.

use std::time::Duration;

use ::gantry::{EngineError, GenericSample, GenericSubscription, Node, SampleInfo};

use super::{SizedType, qos, sentence};
use crate::messages::{MessageType, OwnedMessage, Seen};
use perf_worker::{
    backend::{Matched, Matching, Subscription, Taken},
    clock::now_ns,
    endpoint::EndpointPlan,
    run_spec::{RunSpec, Wait},
};

/// The subscription of an endpoint with its own thread.
pub struct GantrySubscription {
    subscription: GenericSubscription,
    message_type: &'static MessageType,
    /// The private memory into which messages are copied; `None` with zero copy.
    private: Option<Private>,
    /// Whether to read the time at which a take begins to copy (`in_hand_ns`).
    marks: bool,
}

/// The private memory into which messages are copied.
struct Private {
    message: Box<dyn OwnedMessage>,
    /// A buffer for the bytes of a message that must be deserialised field by field.
    buffer: Vec<u8>,
}

impl GantrySubscription {
    /// Creates the subscription of an endpoint.
    ///
    /// # Errors
    /// The reason and the remedy, as a sentence.
    pub fn new(
        node: &Node,
        spec: &RunSpec,
        plan: &EndpointPlan,
        sized_type: SizedType,
    ) -> Result<GantrySubscription, String> {
        let created = node.create_generic_subscription(&plan.topic, sized_type.description(), qos(plan));
        let mut subscription = created.map_err(sentence)?;
        subscription.set_busy_wait(spec.wait != Wait::Block);
        let private = (!spec.zero_copy).then(|| Private { message: sized_type.touched(), buffer: Vec::new() });
        let marks = spec.phases && private.is_some();
        Ok(GantrySubscription { subscription, message_type: sized_type.message_type, private, marks })
    }
}

impl Matched for GantrySubscription {
    fn matched(&mut self) -> Result<Matching, String> {
        self.subscription.publisher_count().map(Matching::Count).map_err(sentence)
    }

    fn mismatches(&mut self) -> Vec<String> {
        self.subscription.mismatches()
    }
}

impl Subscription for GantrySubscription {
    fn take(&mut self, reader: &mut dyn FnMut(&Taken<'_>)) -> Result<bool, String> {
        let in_hand_ns = self.marks.then(now_ns);
        let subscription = &mut self.subscription;
        let Some(Private { message, buffer }) = &mut self.private else {
            let Some(sample) = subscription.take().map_err(sentence)? else { return Ok(false) };
            (self.message_type.view)(sample.bytes(), &mut |seen| {
                let (info, loaned) = (sample.message_info(), !sample.is_inline());
                reader(&Taken { loaned, ..taken(info, seen, subscription.overwritten()) });
            })?;
            return Ok(true);
        };
        let copied = subscription.take_copy_with(|sample| message.copy_from(sample, buffer)).map_err(sentence)?;
        let Some((copied, info)) = copied else { return Ok(false) };
        copied?;
        let seen = seen_in(&**message);
        reader(&Taken { in_hand_ns, ..taken(info, seen, subscription.overwritten()) });
        Ok(true)
    }

    fn wait(&mut self, timeout: Duration) -> Result<(), String> {
        waited(self.subscription.wait(timeout))
    }

    fn overwritten(&self) -> u64 {
        self.subscription.overwritten()
    }
}

/// Converts the result of a wait. A mismatch is no error here.
fn waited(result: ::gantry::Result<bool>) -> Result<(), String> {
    match result {
        // `mismatches` reports publishers that do not match.
        Ok(_)
        | Err(::gantry::Error::Engine(EngineError::TypeMismatch { .. } | EngineError::IncompatibleQos { .. })) => {
            Ok(())
        }
        Err(error) => Err(sentence(error)),
    }
}

/// The contents of a message that was copied out just now.
fn seen_in(message: &dyn OwnedMessage) -> Seen<'_> {
    let received_ns = now_ns();
    Seen { received_ns, stamped: message.stamped(), payload: message.payload() }
}

fn taken(info: SampleInfo, seen: Seen<'_>, overwritten: u64) -> Taken<'_> {
    Taken {
        source: info.publisher_gid.0,
        time_ns: seen.stamped.time_ns,
        id: seen.stamped.id,
        received_ns: seen.received_ns,
        length_bytes: info.length_bytes as u64,
        overwritten,
        payload: seen.payload,
        ..Taken::default()
    }
}

/// The way in which callbacks and services read samples: in shared memory, or as an owned copy.
#[derive(Clone, Copy)]
pub struct Reading {
    /// The type of the messages.
    pub message_type: &'static MessageType,
    /// Whether messages are read in shared memory. Otherwise each message is copied into a new owned message.
    pub in_place: bool,
    /// Whether to read the time at which a copy begins (`in_hand_ns`).
    pub marks: bool,
}

impl Reading {
    /// Passes a sample to `reader`, in shared memory or as an owned copy.
    ///
    /// # Errors
    /// The reason, as a sentence, if the sample is not a message of the type.
    pub fn show(
        self,
        sample: &GenericSample,
        overwritten: u64,
        reader: &mut dyn FnMut(&Taken<'_>),
    ) -> Result<(), String> {
        if self.in_place {
            return (self.message_type.view)(sample.bytes(), &mut |seen| {
                let (info, loaned) = (sample.message_info(), !sample.is_inline());
                reader(&Taken { loaned, ..taken(info, seen, overwritten) });
            });
        }
        let in_hand_ns = self.marks.then(now_ns);
        let message = (self.message_type.to_owned)(sample.bytes())?;
        let seen = seen_in(&*message);
        reader(&Taken { in_hand_ns, ..taken(sample.message_info(), seen, overwritten) });
        Ok(())
    }
}
