//! Two files in iRobot's format: `latency_all.txt` has a line for each endpoint of a process, and `latency_total.txt`
//! has the sums over all subscriptions of the process.

use super::{
    Process, short,
    style::{Column, Headers, Style, column},
};
use crate::log::{Spread, SubscriptionEntry, Summary};
use perf_worker::endpoint::EndpointPlan;

const WIDE: usize = 15;
const NARROW: usize = 10;
const ALL: [Column; 13] = [
    column("node", "node", WIDE),
    column("topic", "topic", WIDE),
    column("size[b]", "size_b", NARROW),
    column("received[#]", "received_msgs", WIDE),
    column("late[#]", "late_msgs", NARROW),
    column("too_late[#]", "too_late_msgs", WIDE),
    column("lost[#]", "lost_msgs", NARROW),
    column("mean[us]", "mean_us", NARROW),
    column("sd[us]", "sd_us", NARROW),
    column("min[us]", "min_us", NARROW),
    column("max[us]", "max_us", NARROW),
    column("freq[hz]", "freq_hz", NARROW),
    // This column has another figure under iRobot's new header than under the old one.
    column("duration[s]", "throughput_Kb_per_sec", WIDE),
];
const TOTAL: [Column; 8] = [
    column("received[#]", "received_msgs", WIDE),
    column("mean[us]", "mean_us", NARROW),
    column("late[#]", "late_msgs", NARROW),
    column("late[%]", "late_perc", NARROW),
    column("too_late[#]", "too_late_msgs", WIDE),
    column("too_late[%]", "too_late_perc", WIDE),
    column("lost[#]", "lost_msgs", NARROW),
    column("lost[%]", "lost_perc", NARROW),
];

/// The line of an endpoint. `of` is its plan and its payload size in bytes. `counts` are the numbers of all, late, too
/// late and lost messages. `times` are the latencies of a subscription, or the durations of a publisher's calls.
fn line(style: Style, of: (&EndpointPlan, u64), counts: [u64; 4], times: &Spread, measured_s: f64) -> String {
    let (plan, payload_bytes) = of;
    let us = |ns: f64| format!("{:.0}", ns / 1000.0);
    let kib_per_s = counts[0] as f64 * payload_bytes as f64 / measured_s.max(f64::MIN_POSITIVE) / 1024.0;
    let names = [short(&plan.node).to_owned(), short(plan.given_topic()).to_owned(), payload_bytes.to_string()];
    let times = [times.mean(), times.deviation(), times.min_ns.unwrap_or(0.0), times.max()].map(us);
    let last = match style.headers {
        Headers::New => format!("{kib_per_s:.3}"),
        Headers::Old => format!("{measured_s:.0}"), // iRobot's scripts expect a whole number
    };
    let values = names.into_iter().chain(counts.map(|count| count.to_string())).chain(times);
    style.line(&ALL, values.chain([format!("{}", (plan.rate_hz * 1000.0).round() / 1000.0), last]))
}

/// The lines of `latency_all.txt` in three blocks: subscriptions, clients (latencies of responses), and publishers
/// (durations of publishing).
pub fn all(style: Style, process: &Process, summary: &Summary) -> Vec<String> {
    let (mut subscriptions, mut clients, mut publishers) = (Vec::new(), Vec::new(), Vec::new());
    for (plan, bytes) in &process.endpoints {
        if let Some(SubscriptionEntry { received, lost, latency, .. }) =
            summary.subscriptions.iter().find(|of| of.endpoint() == plan.endpoint)
        {
            let counts = [received.samples, received.late, received.too_late, *lost];
            let block = if plan.service { &mut clients } else { &mut subscriptions };
            block.push(line(style, (plan, *bytes), counts, latency, summary.measured_s));
        }
        // A client has a line only for its responses; the requests that it publishes have none.
        let publisher = summary.publishers.iter().find(|of| of.endpoint() == plan.endpoint && !plan.service);
        if let Some(publisher) = publisher {
            let counts = [publisher.sent.samples, 0, 0, 0];
            publishers.push(line(style, (plan, *bytes), counts, &publisher.publish, summary.measured_s));
        }
    }
    let mut lines = Vec::new();
    let blocks =
        [("Subscriptions stats:", subscriptions), ("Clients stats:", clients), ("Publishers stats:", publishers)];
    for (title, block) in blocks {
        if !block.is_empty() {
            lines.extend([String::new(), title.to_owned(), style.head(&ALL)]);
            lines.extend(block);
        }
    }
    lines
}

/// The lines of `latency_total.txt`.
pub fn total(style: Style, process: &Process, summary: &Summary) -> Vec<String> {
    let here = |of: &&SubscriptionEntry| process.endpoints.iter().any(|(plan, _)| plan.endpoint == of.endpoint());
    let figures: Vec<&SubscriptionEntry> = summary.subscriptions.iter().filter(here).collect();
    let sum = |which: fn(&SubscriptionEntry) -> u64| figures.iter().map(|of| which(of)).sum::<u64>();
    let [received, late, too_late, lost] =
        [sum(|of| of.received.samples), sum(|of| of.received.late), sum(|of| of.received.too_late), sum(|of| of.lost)];
    let n: u64 = figures.iter().map(|of| of.latency.n).sum();
    let latencies_ns: f64 = figures.iter().map(|of| of.latency.mean() * of.latency.n as f64).sum();
    let percent =
        |count: u64, all: u64| if all == 0 { "0".to_owned() } else { short_number(100.0 * count as f64 / all as f64) };
    let values = [
        received.to_string(),
        format!("{:.0}", latencies_ns / n.max(1) as f64 / 1000.0),
        late.to_string(),
        percent(late, received),
        too_late.to_string(),
        percent(too_late, received),
        lost.to_string(),
        percent(lost, received + lost),
    ];
    vec![style.head(&TOTAL), style.line(&TOTAL, values)]
}

/// A percentage with at most four decimals.
fn short_number(percent: f64) -> String {
    ((percent * 10_000.0).round() / 10_000.0).to_string()
}
