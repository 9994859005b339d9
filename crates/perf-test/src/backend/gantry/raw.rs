//! Bytes without a type (`--raw`), through Gantry's generic publishers and subscriptions.
//!
//! A type is needed to match, so it is an array of as many bytes as a message has: its body is the bytes themselves.

use std::hint::black_box;
use std::time::Duration;

use ::gantry::{GenericPublisher, GenericSubscription, PublishMode, PublisherOptions, TypeDescription};

use super::{node, qos, sentence, waited};
use perf_worker::{
    backend::{Draft, Matched, Matching, Publisher, Sent, Subscription, Taken},
    clock::now_ns,
    endpoint::EndpointPlan,
    raw,
    run_spec::{RunSpec, Wait},
};

fn type_of(plan: &EndpointPlan) -> TypeDescription {
    let length_bytes = plan.message.bytes;
    TypeDescription {
        name: "perf_test_msgs/msg/Raw".to_owned(),
        definition: format!("uint8[{length_bytes}] message\n").into(),
        payload_bytes: length_bytes,
        ..TypeDescription::default()
    }
}

/// The memory of copies. Every page has been touched, so that no page fault falls into the measurement.
fn private(spec: &RunSpec, plan: &EndpointPlan) -> Option<Vec<u8>> {
    let mut bytes = vec![0; if spec.zero_copy { 0 } else { plan.message.bytes }];
    black_box(&mut bytes).fill(0);
    (!spec.zero_copy).then_some(bytes)
}

/// A publisher of bytes.
pub fn publisher(spec: &RunSpec, plan: &EndpointPlan, publish_mode: PublishMode) -> Result<Box<dyn Publisher>, String> {
    let options = PublisherOptions { publish_mode, ..PublisherOptions::default() };
    let created =
        node(spec, plan)?.create_generic_publisher_with_options(&plan.topic, type_of(plan), qos(plan), options);
    Ok(Box::new(RawPublisher {
        publisher: created.map_err(sentence)?,
        private: private(spec, plan),
        length_bytes: plan.message.bytes,
        is_inline: plan.message.bytes <= options.max_inline_bytes,
    }))
}

/// A subscription to bytes.
pub fn subscription(spec: &RunSpec, plan: &EndpointPlan) -> Result<Box<dyn Subscription>, String> {
    let created = node(spec, plan)?.create_generic_subscription(&plan.topic, type_of(plan), qos(plan));
    let mut subscription = created.map_err(sentence)?;
    subscription.set_busy_wait(spec.wait != Wait::Block);
    let private = private(spec, plan);
    let marks = spec.phases && private.is_some();
    Ok(Box::new(RawSubscription { subscription, private, marks }))
}

struct RawPublisher {
    publisher: GenericPublisher,
    /// The message that is copied in; none with zero copy.
    private: Option<Vec<u8>>,
    length_bytes: usize,
    /// The messages are so small that publishing copies them.
    is_inline: bool,
}

impl Matched for RawPublisher {
    fn matched(&mut self) -> Result<Matching, String> {
        self.publisher.subscription_count().map(Matching::Count).map_err(sentence)
    }

    fn mismatches(&mut self) -> Vec<String> {
        self.publisher.mismatches().unwrap_or_else(|error| vec![sentence(error)])
    }

    fn source(&self) -> Option<[u8; 16]> {
        Some(self.publisher.gid().0)
    }
}

impl Publisher for RawPublisher {
    fn publish(&mut self, draft: &mut dyn Draft) -> Result<Sent, String> {
        if let Some(message) = &mut self.private {
            draft.write(raw::payload_mut(message));
            raw::write_stamp(message, draft.stamp());
            return self.publisher.publish_copy(message).map(|_| Sent::default()).map_err(sentence);
        }
        let mut loan = self.publisher.loan(self.length_bytes).map_err(sentence)?;
        draft.write(raw::payload_mut(loan.bytes_mut()));
        raw::write_stamp(loan.bytes_mut(), draft.stamp());
        let published = self.publisher.publish(loan).map_err(|unpublished| sentence(unpublished.into()));
        published.map(|_| Sent { loaned: !self.is_inline, ..Sent::default() })
    }
}

struct RawSubscription {
    subscription: GenericSubscription,
    /// The destination of copies; none with zero copy.
    private: Option<Vec<u8>>,
    /// The beginning of a take that copies is marked.
    marks: bool,
}

impl Matched for RawSubscription {
    fn matched(&mut self) -> Result<Matching, String> {
        self.subscription.publisher_count().map(Matching::Count).map_err(sentence)
    }

    fn mismatches(&mut self) -> Vec<String> {
        self.subscription.mismatches()
    }
}

impl Subscription for RawSubscription {
    fn take(&mut self, reader: &mut dyn FnMut(&Taken<'_>)) -> Result<bool, String> {
        let in_hand_ns = self.marks.then(now_ns);
        let Some(sample) = self.subscription.take().map_err(sentence)? else { return Ok(false) };
        let info = sample.message_info();
        let loaned = self.private.is_none() && !sample.is_inline();
        let message = match &mut self.private {
            None => sample.bytes(),
            Some(private) => {
                let length_bytes = sample.copy_to(private);
                private.get(..length_bytes).unwrap_or_default()
            }
        };
        let received_ns = now_ns();
        let stamped = raw::read_stamp(message)
            .ok_or_else(|| format!("a message of {} bytes has no time and no id", info.length_bytes))?;
        reader(&Taken {
            source: info.publisher_gid.0,
            time_ns: stamped.time_ns,
            id: stamped.id,
            received_ns,
            in_hand_ns,
            length_bytes: info.length_bytes as u64,
            overwritten: self.subscription.overwritten(),
            loaned,
            payload: raw::payload(message),
            ..Taken::default()
        });
        Ok(true)
    }

    fn wait(&mut self, timeout: Duration) -> Result<(), String> {
        waited(self.subscription.wait(timeout))
    }

    fn overwritten(&self) -> u64 {
        self.subscription.overwritten()
    }
}
