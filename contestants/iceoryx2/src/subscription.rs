//! Subscriptions.

use std::time::Duration;

use iceoryx2::{
    port::{
        listener::{Listener, ListenerWaitError},
        subscriber::Subscriber as Port,
        update_connections::UpdateConnections,
    },
    prelude::{Node, PortFactory, ipc},
};
use perf_worker::{
    backend::{Matched, Matching, Subscription, Taken},
    clock::now_ns,
    endpoint::EndpointPlan,
    raw,
    run_spec::RunSpec,
};

use crate::service::{self, Messages, failed, own_message};

/// Creates a subscription.
///
/// # Errors
/// The reason, as a sentence: the services have other options, or too many endpoints.
pub fn create(node: &Node<ipc::Service>, spec: &RunSpec, plan: &EndpointPlan) -> Result<Box<dyn Subscription>, String> {
    let (messages, wakeups) = service::open(node, spec, plan)?;
    // The listener is created before the subscriber: otherwise a publisher could count a subscription that it cannot
    // wake.
    let listener = wakeups.map(|wakeups| wakeups.listener_builder().create()).transpose();
    let listener = listener.map_err(|error| failed("create a listener of", &plan.topic, error))?;
    let port = messages.subscriber_builder().create();
    Ok(Box::new(Iceoryx2Subscription {
        port: port.map_err(|error| failed("create a subscriber of", &plan.topic, error))?,
        listener,
        messages,
        own: own_message(spec, plan),
        marks: spec.phases,
    }))
}

struct Iceoryx2Subscription {
    port: Port<ipc::Service, [u8], ()>,
    /// The listener on which the subscription sleeps; `None` if it busy-waits.
    listener: Option<Listener<ipc::Service>>,
    messages: Messages,
    /// The user's message, into which samples are copied; `None` with zero copy.
    own: Option<Vec<u8>>,
    /// True if the beginning of the copy is recorded as the end of a phase of the message's latency.
    marks: bool,
}

impl Matched for Iceoryx2Subscription {
    fn matched(&mut self) -> Result<Matching, String> {
        // Connects new publishers now; without this call, the next take would do it.
        self.port.update_connections().map_err(|error| format!("iceoryx2 cannot connect: {error:?}"))?;
        Ok(Matching::Count(self.messages.dynamic_config().number_of_publishers()))
    }

    fn mismatches(&mut self) -> Vec<String> {
        Vec::new()
    }
}

impl Subscription for Iceoryx2Subscription {
    fn take(&mut self, reader: &mut dyn FnMut(&Taken<'_>)) -> Result<bool, String> {
        let received = self.port.receive().map_err(|error| format!("iceoryx2 did not receive a message: {error:?}"))?;
        let Some(sample) = received else { return Ok(false) };
        let in_hand_ns = (self.marks && self.own.is_some()).then(now_ns);
        let (source, length_bytes) = (sample.origin().value().to_le_bytes(), sample.payload().len());
        let mut show = |received_ns, message: &[u8], loaned| {
            let stamped = raw::read_stamp(message).ok_or_else(|| {
                format!(
                    "a message of {} bytes does not come from perf_test, whose messages begin with a time and an id",
                    message.len()
                )
            })?;
            reader(&Taken {
                source,
                time_ns: stamped.time_ns,
                id: stamped.id,
                received_ns,
                in_hand_ns,
                length_bytes: length_bytes as u64,
                loaned,
                payload: raw::payload(message),
                ..Taken::default()
            });
            Ok(true)
        };
        let Some(own) = &mut self.own else { return show(now_ns(), sample.payload(), true) };
        if own.len() != length_bytes {
            let expected = own.len();
            return Err(format!(
                "a message has {length_bytes} bytes instead of {expected}: give both programs the same -m"
            ));
        }
        own.copy_from_slice(sample.payload());
        drop(sample);
        show(now_ns(), own, false)
    }

    fn wait(&mut self, timeout: Duration) -> Result<(), String> {
        let Some(listener) = &self.listener else { return Ok(()) };
        match listener.timed_wait(|_| {}, timeout) {
            Ok(_) | Err(ListenerWaitError::InterruptSignal) => Ok(()),
            Err(error) => Err(format!("iceoryx2 cannot wait for messages: {error:?}")),
        }
    }

    fn overwritten(&self) -> u64 {
        0
    }
}
