//! The publishers from which each endpoint receives, and the receivers of each publisher. Both follow from the topics
//! and relays. A client of a service receives only the responses to its own requests.

use std::collections::BTreeMap;

use super::is_publisher;
use perf_worker::{
    endpoint::{Endpoint, EndpointPlan},
    worker::protocol::Plan,
};

/// For each endpoint of a run, the publishers from which it receives, in order. The list is empty for a publisher, and
/// for an endpoint that receives only from other programs.
pub type Senders = BTreeMap<Endpoint, Vec<Endpoint>>;

/// For each publisher of a run that has receivers, these receivers in order.
pub type Receivers = BTreeMap<Endpoint, Vec<Endpoint>>;

/// Inverts `senders`: the receivers of each publisher.
pub fn receivers(senders: &Senders) -> Receivers {
    let mut receivers = Receivers::new();
    for (receiver, publishers) in senders {
        publishers.iter().for_each(|publisher| receivers.entry(*publisher).or_default().push(*receiver));
    }
    receivers
}

/// The publishers from which each endpoint of these workers receives. There may be thousands of endpoints, so the time
/// is linear in their number.
pub fn senders(plans: &[Plan]) -> Senders {
    let all = || plans.iter().flat_map(|plan| &plan.endpoints);
    let mut of_topic: BTreeMap<(&str, bool), Vec<Endpoint>> = BTreeMap::new();
    for plan in all().filter(|plan| is_publisher(&plan.endpoint)) {
        of_topic.entry((&plan.topic, plan.service)).or_default().push(plan.endpoint);
    }
    let relays: Vec<&EndpointPlan> = all().filter(|plan| !plan.relay_topic.is_empty()).collect();
    let of = |receiver: &EndpointPlan| -> Vec<Endpoint> {
        if is_publisher(&receiver.endpoint) || receiver.publishers == 0 {
            return Vec::new();
        }
        if let Some(requests) = receiver.answers {
            return vec![requests];
        }
        let relayed =
            relays.iter().filter(|relay| relay.relay_topic == receiver.topic && relay.topic != receiver.topic);
        let topics = std::iter::once(receiver).chain(relayed.copied()).map(|plan| plan.topic.as_str());
        // The key contains `service`, because a topic and a service may have the same name.
        let of_kind = topics.filter_map(|topic| of_topic.get(&(topic, receiver.service)));
        let mut reaching: Vec<Endpoint> = of_kind.flatten().copied().collect();
        if reaching.is_empty() {
            // The relay belongs to another program. It passes on the messages of all publishers.
            let all = of_topic.iter().filter(|((_, service), _)| *service == receiver.service);
            reaching = all.flat_map(|(_, endpoints)| endpoints).copied().collect();
        }
        reaching.sort_unstable();
        reaching.dedup();
        reaching
    };
    all().map(|receiver| (receiver.endpoint, of(receiver))).collect()
}
