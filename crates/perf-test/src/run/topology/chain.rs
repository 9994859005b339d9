//! The tables of chains (paths of messages through several nodes): end-to-end latencies, and the periods of the timers.

use std::collections::BTreeMap;

use super::cells::{rate, sorted, table};
use crate::{
    common::units::format_ns,
    log::{Spread, Summary},
    report::summary::text::times,
};
use perf_worker::endpoint::{Endpoint, EndpointPlan};

const CHAIN_COLUMNS: [&str; 9] = ["chain", "latency from", "n", "dropped", "min", "mean", "p50", "p99", "max"];
const TIMER_COLUMNS: [&str; 8] = ["timer of", "node", "Hz", "n", "period: min", "mean", "deviation", "max"];
/// The note on dropped messages below the table.
const DROPPED: &str = "  dropped: messages that a subscription on the way of the chain did not receive; the end of a chain is a callback that has the message";

/// The lines of the tables, with an empty line after each table. There are no lines if the topology has no chains.
pub fn lines(plans: &BTreeMap<Endpoint, &EndpointPlan>, summary: &Summary) -> Vec<String> {
    if summary.chains.is_empty() {
        return Vec::new();
    }
    let mut chains = Vec::new();
    for chain in &summary.chains {
        let row = |from: &str, latency: &Spread, p50_ns, p99_ns| {
            let names = [chain.name.clone(), from.to_owned()];
            let counts = [latency.n, chain.dropped].map(|count| count.to_string());
            let ends = [latency.min_ns, latency.mean_ns].map(|ns| ns.map_or(String::new(), format_ns));
            names.into_iter().chain(counts).chain(ends).chain(times(latency, p50_ns, p99_ns)).collect()
        };
        chains.push(row("oldest source", &chain.latency, chain.p50_ns, chain.p99_ns));
        chains.push(row("newest source", &chain.newest, chain.newest_p50_ns, chain.newest_p99_ns));
    }
    let timers = plans
        .values()
        .filter(|plan| matches!(plan.endpoint, Endpoint::Publisher(_)) && !plan.service && plan.triggers.is_empty());
    let timers = sorted(timers.filter_map(|plan| timer(plan, summary)));
    [table(&CHAIN_COLUMNS, chains, DROPPED), table(&TIMER_COLUMNS, timers, "")].concat()
}

fn timer(plan: &EndpointPlan, summary: &Summary) -> Option<Vec<String>> {
    let interval = &summary.publishers.iter().find(|of| of.endpoint() == plan.endpoint)?.interval;
    let names = [plan.given_topic().to_owned(), plan.node.clone(), rate(plan), interval.n.to_string()];
    let deviation_ns = interval.variance_ns2.map(f64::sqrt);
    let times = [interval.min_ns, interval.mean_ns, deviation_ns, interval.max_ns];
    let times = times.map(|ns| ns.map_or(String::new(), format_ns));
    Some(names.into_iter().chain(times).collect())
}
