//! The queues of a topology's subscriptions, whose latencies are watched for overload.

use std::collections::BTreeMap;

use super::senders::Senders;
use crate::measure::overload::{Growth, Queue};
use perf_worker::{
    clock::SECOND_NS,
    endpoint::{Endpoint, EndpointPlan},
    run_spec::History,
};

/// The growth of the latency of each subscription of a topology, with no message counted yet.
pub fn growths(plans: &BTreeMap<Endpoint, EndpointPlan>, senders: &Senders) -> BTreeMap<Endpoint, Growth> {
    let of = |plan: &EndpointPlan| {
        let senders = senders.get(&plan.endpoint)?.iter().filter_map(|sender| plans.get(sender));
        // The publishers' rates give the period. Their timers' paces do not, because a publisher without a
        // timer has no pace.
        let highest_hz = senders.map(|sender| sender.rate_hz).fold(0.0, f64::max);
        let depth = (plan.qos.history == History::KeepLast).then_some(plan.qos.depth);
        let queue = Queue { period_ns: SECOND_NS as f64 / highest_hz, rate_hz: plan.rate_hz, depth };
        (highest_hz > 0.0).then(|| (plan.endpoint, Growth::new(queue)))
    };
    // Clients are left out: a client waits for the responses to its own requests, not for messages of a topic.
    let of_nodes = plans.values().filter(|plan| !plan.node.is_empty() && !plan.service);
    of_nodes.filter(|plan| matches!(plan.endpoint, Endpoint::Subscription(_))).filter_map(of).collect()
}
