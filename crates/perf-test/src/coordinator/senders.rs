//! The publishers whose messages each endpoint receives: by the topic, through relays, and of a service each client's own.

use std::collections::BTreeMap;

use super::is_publisher;
use perf_worker::{
    endpoint::{Endpoint, EndpointPlan},
    worker::protocol::Plan,
};

/// Each endpoint of a run with its publishers, in order; none for publishers and those that receive from other programs.
pub type Senders = BTreeMap<Endpoint, Vec<Endpoint>>;

/// The publishers of each endpoint of these workers.
pub fn senders(plans: &[Plan]) -> Senders {
    let all = || plans.iter().flat_map(|plan| &plan.endpoints);
    let of = |receiver: &EndpointPlan| -> Vec<Endpoint> {
        if is_publisher(&receiver.endpoint) || receiver.publishers == 0 {
            return Vec::new();
        }
        if let Some(requests) = receiver.answers {
            return vec![requests];
        }
        let relayed = |topic: &str| all().any(|relay| relay.topic == topic && relay.relay_topic == receiver.topic);
        let reaches = |plan: &&EndpointPlan| plan.topic == receiver.topic || relayed(&plan.topic);
        // A topic and a service may have one name.
        let publishers = || all().filter(|plan| is_publisher(&plan.endpoint) && plan.service == receiver.service);
        // The relay of another program passes on the messages of all.
        let known = publishers().any(|plan| reaches(&plan));
        publishers().filter(|plan| !known || reaches(plan)).map(|plan| plan.endpoint).collect()
    };
    all().map(|receiver| (receiver.endpoint, of(receiver))).collect()
}
