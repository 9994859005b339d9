//! The tables of chains: their latencies from end to end, and the periods of the timers.

use std::collections::BTreeMap;

use super::table::{rate, table, times};
use crate::{report::summary::Summary, units::format_ns};
use perf_worker::{
    endpoint::{Endpoint, EndpointPlan},
    measure::{cells::Cells, moments::Moments},
};

const CHAIN_COLUMNS: [&str; 9] = ["chain", "latency from", "n", "dropped", "min", "mean", "p50", "p99", "max"];
const TIMER_COLUMNS: [&str; 8] = ["timer of", "node", "Hz", "n", "period: min", "mean", "deviation", "max"];
/// The line about dropped messages.
const DROPPED: &str = "  dropped: messages that a subscription on the way of the chain did not receive; the end of a chain is a callback that has the message";

/// The tables as lines of text, each with an empty line; none without chains.
pub fn lines(plans: &BTreeMap<Endpoint, &EndpointPlan>, summary: &Summary) -> Vec<String> {
    if summary.chains.is_empty() {
        return Vec::new();
    }
    let mut chains = Vec::new();
    for chain in &summary.chains {
        let row = |from: &str, moments: &Moments, cells: &Cells| {
            let names = [chain.name.clone(), from.to_owned()];
            let counts = [moments.n, chain.dropped].map(|count| count.to_string());
            let known = |value: f64| if moments.n == 0 { String::new() } else { format_ns(value) };
            let ends = [known(moments.min), known(moments.mean)];
            names.into_iter().chain(counts).chain(ends).chain(times(moments, cells)).collect()
        };
        chains.push(row("oldest source", &chain.oldest_ns, &chain.oldest));
        chains.push(row("newest source", &chain.newest_ns, &chain.newest));
    }
    let mut lines = table(&CHAIN_COLUMNS, chains);
    lines.extend([DROPPED.to_owned(), String::new()]);
    let timers = plans
        .values()
        .filter(|plan| matches!(plan.endpoint, Endpoint::Publisher(_)) && !plan.service && plan.triggers.is_empty());
    let mut timers: Vec<Vec<String>> = timers.filter_map(|plan| timer(plan, summary)).collect();
    timers.sort();
    lines.extend(table(&TIMER_COLUMNS, timers));
    lines.push(String::new());
    lines
}

fn timer(plan: &EndpointPlan, summary: &Summary) -> Option<Vec<String>> {
    let interval_ns = summary.publishers.iter().find(|of| of.endpoint == plan.endpoint)?.interval_ns;
    let known = |least: u64, value: f64| if interval_ns.n < least { String::new() } else { format_ns(value) };
    let names = [plan.given_topic().to_owned(), plan.node.clone(), rate(plan), interval_ns.n.to_string()];
    let times = [
        known(1, interval_ns.min),
        known(1, interval_ns.mean),
        known(2, interval_ns.variance().sqrt()),
        known(1, interval_ns.max),
    ];
    Some(names.into_iter().chain(times).collect())
}
