//! Publishers.

use std::time::Duration;

use iceoryx2::{
    port::{
        BackpressureAction, BackpressureInfo, backpressure_strategy::BackpressureStrategy, notifier::Notifier,
        publisher::Publisher as Port, update_connections::UpdateConnections,
    },
    prelude::{Node, PortFactory, ipc},
};
use perf_worker::{
    backend::{Draft, Matched, Matching, Publisher, Sent},
    clock::now_ns,
    endpoint::EndpointPlan,
    raw,
    run_spec::{Reliability, RunSpec},
};

use crate::{
    loan,
    service::{self, Messages, Wakeups, failed, own_message},
};

/// The longest time for which a RELIABLE publisher waits for room in full buffers: DDS's default `max_blocking_time`.
const LONGEST_BLOCKING: Duration = Duration::from_millis(100);

/// Creates a publisher.
///
/// # Errors
/// The reason, as a sentence: the services have other options, or too many endpoints.
pub fn create(node: &Node<ipc::Service>, spec: &RunSpec, plan: &EndpointPlan) -> Result<Box<dyn Publisher>, String> {
    let (messages, wakeups) = service::open(node, spec, plan)?;
    let strategy = match plan.qos.reliability {
        Reliability::Reliable => BackpressureStrategy::RetryUntilDelivered,
        Reliability::BestEffort => BackpressureStrategy::DiscardData,
    };
    let builder =
        messages.publisher_builder().initial_max_slice_len(plan.message.bytes).backpressure_strategy(strategy);
    // Without this handler, a dead subscription would block the publisher for ever.
    let builder = match plan.qos.reliability {
        Reliability::Reliable => builder.set_backpressure_handler(give_up),
        Reliability::BestEffort => builder,
    };
    let port = builder.create().map_err(|error| failed("create a publisher of", &plan.topic, error))?;
    let notify = |wakeups: Wakeups| wakeups.notifier_builder().create();
    let notifier = wakeups.map(notify).transpose();
    Ok(Box::new(Iceoryx2Publisher {
        port,
        notifier: notifier.map_err(|error| failed("create a notifier of", &plan.topic, error))?,
        messages,
        own: own_message(spec, plan),
        length_bytes: plan.message.bytes,
        marks: spec.phases,
    }))
}

/// Reacts to a full buffer: retries for `LONGEST_BLOCKING`, then discards the message.
fn give_up(info: &BackpressureInfo) -> BackpressureAction {
    if info.elapsed_time > LONGEST_BLOCKING {
        BackpressureAction::DiscardDataAndFail
    } else {
        BackpressureAction::Retry
    }
}

struct Iceoryx2Publisher {
    port: Port<ipc::Service, [u8], ()>,
    /// The notifier that wakes sleeping subscriptions; `None` if subscriptions busy-wait.
    notifier: Option<Notifier<ipc::Service>>,
    messages: Messages,
    /// The user's message, which is copied into a loan; `None` with zero copy.
    own: Option<Vec<u8>>,
    length_bytes: usize,
    /// True if the end of the copy is recorded as the end of a phase of the message's latency.
    marks: bool,
}

impl Matched for Iceoryx2Publisher {
    fn matched(&mut self) -> Result<Matching, String> {
        // Connects new subscriptions now; without this call, the next message would do it.
        self.port.update_connections().map_err(|error| format!("iceoryx2 cannot connect: {error:?}"))?;
        Ok(Matching::Count(self.messages.dynamic_config().number_of_subscribers()))
    }

    fn mismatches(&mut self) -> Vec<String> {
        Vec::new()
    }

    fn source(&self) -> Option<[u8; 16]> {
        Some(self.port.id().value().to_le_bytes())
    }
}

impl Publisher for Iceoryx2Publisher {
    fn publish(&mut self, draft: &mut dyn Draft) -> Result<Sent, String> {
        let mut sent = Sent { loaned: self.own.is_none(), ..Sent::default() };
        let sample = if let Some(own) = &mut self.own {
            draft.write(raw::payload_mut(own));
            raw::write_stamp(own, draft.stamp());
            let mut sample = loan::loan(&self.port, self.length_bytes)?;
            sample.payload_mut().copy_from_slice(own);
            sent.serialised_ns = self.marks.then(now_ns);
            sample
        } else {
            let mut sample = loan::loan(&self.port, self.length_bytes)?;
            draft.write(raw::payload_mut(sample.payload_mut()));
            raw::write_stamp(sample.payload_mut(), draft.stamp());
            sample
        };
        sample.send().map_err(|error| format!("iceoryx2 did not send a message: {error:?}"))?;
        if let Some(notifier) = &self.notifier {
            notifier.notify().map_err(|error| format!("iceoryx2 did not wake the subscriptions: {error:?}"))?;
        }
        Ok(sent)
    }
}
