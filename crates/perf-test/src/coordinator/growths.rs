//! The queues of the subscriptions of a topology, whose latencies are watched for overload.

use std::collections::BTreeMap;

use super::senders::Senders;
use crate::measure::overload::{Growth, Queue};
use perf_worker::{
    clock::SECOND_NS,
    endpoint::{Endpoint, EndpointPlan},
    run_spec::History,
};

/// The latencies of the subscriptions of a topology, before the first one.
pub fn growths(endpoints: &[EndpointPlan], senders: &Senders) -> BTreeMap<Endpoint, Growth> {
    let plans: BTreeMap<Endpoint, &EndpointPlan> = endpoints.iter().map(|plan| (plan.endpoint, plan)).collect();
    let of = |plan: &EndpointPlan| {
        let senders = senders.get(&plan.endpoint)?.iter().filter_map(|sender| plans.get(sender));
        let periods_ns = senders.filter_map(|sender| sender.pace.period_ns()).map(|period_ns| period_ns as f64);
        let (shortest_ns, rate_hz) = periods_ns.fold((f64::INFINITY, 0.0), |(shortest_ns, rate_hz), period_ns| {
            (shortest_ns.min(period_ns), rate_hz + SECOND_NS as f64 / period_ns)
        });
        let depth = (plan.qos.history == History::KeepLast).then_some(plan.qos.depth);
        let queue = Queue { period_ns: shortest_ns, rate_hz, depth };
        shortest_ns.is_finite().then(|| (plan.endpoint, Growth::new(queue)))
    };
    // A client waits for its own responses, not for a topic.
    let of_nodes = endpoints.iter().filter(|plan| !plan.node.is_empty() && !plan.service);
    of_nodes.filter(|plan| matches!(plan.endpoint, Endpoint::Subscription(_))).filter_map(of).collect()
}
