//! The queues of a topology's subscriptions. Their latencies are watched, because a growing latency shows overload.

use std::collections::BTreeMap;

use super::senders::Senders;
use crate::measure::overload::{Growth, Queue};
use perf_worker::{
    clock::SECOND_NS,
    endpoint::{Endpoint, EndpointPlan},
    run_spec::History,
};

/// Creates an empty record of the latency's growth for each subscription of a topology.
pub fn growths(plans: &BTreeMap<Endpoint, EndpointPlan>, senders: &Senders) -> BTreeMap<Endpoint, Growth> {
    let of = |plan: &EndpointPlan| {
        let senders = senders.get(&plan.endpoint)?.iter().filter_map(|sender| plans.get(sender));
        // The period follows from the publishers' rates. A publisher without a timer has no pace, so paces cannot give
        // the period.
        let highest_hz = senders.map(|sender| sender.rate_hz).fold(0.0, f64::max);
        let depth = (plan.qos.history == History::KeepLast).then_some(plan.qos.depth);
        let queue = Queue { period_ns: SECOND_NS as f64 / highest_hz, rate_hz: plan.rate_hz, depth };
        (highest_hz > 0.0).then(|| (plan.endpoint, Growth::new(queue)))
    };
    // Clients of services are left out, because they wait for the responses to their own requests.
    let of_nodes = plans.values().filter(|plan| !plan.node.is_empty() && !plan.service);
    of_nodes.filter(|plan| matches!(plan.endpoint, Endpoint::Subscription(_))).filter_map(of).collect()
}
