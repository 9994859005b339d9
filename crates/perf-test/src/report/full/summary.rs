//! The summary of a run in Gantry's own log.

use serde::{Deserialize, Serialize};

use super::{Spread, TotalEntry, chain::ChainEntry, row::UsedEntry, server::ServerEntry};
use crate::measure::calibration::Calibration;
use crate::measure::daemon::DaemonUsage;
use crate::measure::overload::Overload;
use crate::report::summary::{Place, PublisherFigures, SubscriptionFigures, Summary, WorkerUsage};
use crate::verdict::Verdict;
use crate::warning::Warning;
use perf_worker::backend::DeviceMemory;
use perf_worker::endpoint::Endpoint;
use perf_worker::measure::memory::{Footprint, Memory};
use perf_worker::measure::own_cost::OwnCost;
use perf_worker::measure::tally::{Received, Sent};
use perf_worker::measure::threads::ThreadUsage;

/// The whole run, without the seconds of --warmup and --ignore.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SummaryEntry {
    /// Whether it ended early: by Ctrl-C, by a signal, or because all publishers or all subscriptions had exited.
    pub stopped_early: bool,
    /// The reason why the measurement is worthless; null if it is good.
    pub failure: Option<String>,
    /// The measured time, s.
    pub measured_s: f64,
    /// From the creation of the last endpoint until all were matched, ns.
    pub matched_after_ns: i64,
    /// From the start of the first worker process until all endpoints were matched, ns; null in older logs.
    #[serde(default)]
    pub start_up_ns: Option<i64>,
    /// The phase of each publisher of this run: the time from the start until its first message was due, ns.
    #[serde(default)]
    pub phases_ns: Vec<i64>,
    /// The largest error of a latency because the clocks of both ends differ, ns; null of one clock.
    #[serde(default)]
    pub clock_error_ns: Option<i64>,
    /// Messages per second of each publisher; 0 in a run without publishers.
    pub achieved_hz: f64,
    /// The messages sent and received.
    pub total: TotalEntry,
    /// Samples sent, including the last samples of a killed publisher that a subscription received.
    pub sent_at_least: u64,
    /// Samples sent after matching and not received, summed over the subscriptions.
    pub lost: u64,
    /// The part of the lost samples that is not known to have left the history.
    pub unexplained: u64,
    /// Samples that other programs sent before a subscription of this run was matched; not lost.
    pub before_matched: u64,
    /// The usage of the endpoints' and the middleware's threads in all workers, in the whole seconds of the run.
    pub used: UsedEntry,
    /// The usage of the instrument's own threads in the workers in that time; not part of `used`.
    pub instrument_used: UsedEntry,
    /// CPU time of `used`, percent of one core.
    pub core_percent: f64,
    /// CPU time of `used` and of all daemons per received message (per sent message in a run without subscriptions),
    /// ns; null without messages.
    pub cpu_per_message_ns: Option<f64>,
    /// Cores that the program may use.
    pub cores: u64,
    /// Each subscription of this run.
    pub subscriptions: Vec<SubscriptionEntry>,
    /// Each publisher of this run; empty in older logs.
    #[serde(default)]
    pub publishers: Vec<PublisherEntry>,
    /// Each server of a topology; empty in older logs.
    #[serde(default)]
    pub servers: Vec<ServerEntry>,
    /// Each chain of a topology; empty in older logs.
    #[serde(default)]
    pub chains: Vec<ChainEntry>,
    /// The worker processes.
    pub workers: Vec<WorkerEntry>,
    /// The daemons of the middleware.
    pub daemons: Vec<DaemonUsage>,
    /// The usage of the coordinator since its start, calibrations included.
    pub coordinator_used: UsedEntry,
    /// The cost of the instrument itself for each message.
    pub own_cost: OwnCost,
    /// The costs of the machine before the run.
    pub calibration_before: Calibration,
    /// The costs of the machine after the run.
    pub calibration_after: Calibration,
    /// The reasons not to trust the run without a second look.
    pub warnings: Vec<WarningEntry>,
    /// The verdict on each --require.
    pub requirements: Vec<Verdict>,
}

/// One subscription.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SubscriptionEntry {
    /// Its index.
    pub index: u32,
    /// Its node and its topic; absent outside of topologies.
    #[serde(flatten)]
    pub place: Option<Place>,
    /// Samples that its publishers sent; 0 if they belong to another program, and in older logs.
    #[serde(default)]
    pub sent: u64,
    /// Its counts.
    pub received: Received,
    /// Samples sent after matching that it did not receive.
    pub lost: u64,
    /// Its service latency.
    pub latency: Spread,
    /// The median of it, ns; null without samples, as the next.
    pub p50_ns: Option<u64>,
    /// The 99th percentile, ns; reliable from 1000 samples on.
    pub p99_ns: Option<u64>,
    /// Whether its messages waited longer from second to second; absent outside of topologies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overload: Option<Overload>,
}

impl SubscriptionEntry {
    fn of(figures: &SubscriptionFigures) -> SubscriptionEntry {
        let SubscriptionFigures { endpoint, place, overload, sent, received, lost, latencies } = figures;
        let quantile_ns = |quantile| (received.latency_ns.n > 0).then(|| latencies.quantile_ns(quantile));
        SubscriptionEntry {
            index: index(*endpoint),
            place: place.clone(),
            sent: *sent,
            received: received.counts(),
            lost: *lost,
            latency: Spread::of(&received.latency_ns),
            p50_ns: quantile_ns(0.5),
            p99_ns: quantile_ns(0.99),
            overload: *overload,
        }
    }
}

/// One publisher.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PublisherEntry {
    /// Its index.
    pub index: u32,
    /// Its node and its topic; absent outside of topologies.
    #[serde(flatten)]
    pub place: Option<Place>,
    /// Its counts.
    pub sent: Sent,
    /// The delays of its messages from due time to send time.
    pub lateness: Spread,
    /// From the stamp until publish returned; empty outside of topologies.
    #[serde(default)]
    pub publish: Spread,
    /// Of a topology's, the times from message to message; of none in older logs.
    #[serde(default)]
    pub interval: Spread,
    /// The median of it, ns; null without samples, as the next.
    pub p50_ns: Option<u64>,
    /// The 99th percentile, ns; reliable from 1000 samples on.
    pub p99_ns: Option<u64>,
}

impl PublisherEntry {
    fn of(figures: &PublisherFigures) -> PublisherEntry {
        let PublisherFigures { endpoint, place, sent, lateness, interval_ns } = figures;
        let quantile_ns = |quantile| (sent.lateness_ns.n > 0).then(|| lateness.quantile_ns(quantile));
        PublisherEntry {
            index: index(*endpoint),
            place: place.clone(),
            sent: sent.counts(),
            lateness: Spread::of(&sent.lateness_ns),
            publish: Spread::of(&sent.publish_ns),
            interval: Spread::of(interval_ns),
            p50_ns: quantile_ns(0.5),
            p99_ns: quantile_ns(0.99),
        }
    }
}

/// The index of an endpoint.
pub(super) fn index(endpoint: Endpoint) -> u32 {
    match endpoint {
        Endpoint::Publisher(index) | Endpoint::Subscription(index) | Endpoint::Relay(index) => index,
    }
}

/// One worker process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WorkerEntry {
    /// Its endpoints.
    pub label: String,
    /// Its process ID.
    pub pid: u32,
    /// Its usage since its start, set-up included, without the instrument's own threads.
    pub used: UsedEntry,
    /// The usage of the instrument's own threads since its start.
    pub instrument_used: UsedEntry,
    /// Its resident memory at the end.
    pub memory: Memory,
    /// Its memory by kind at the end; null if it exited early.
    pub footprint: Option<Footprint>,
    /// The memory of the device that it measured; null if that is its own process.
    #[serde(default)]
    pub device: Option<DeviceMemory>,
    /// The memory in which the instrument counts, part of the resident memory, bytes; null if it is not known.
    #[serde(default)]
    pub instrument_bytes: Option<u64>,
    /// The usage of each of its threads during measurement; empty if it exited early.
    pub threads: Vec<ThreadUsage>,
}

impl WorkerEntry {
    fn of(worker: &WorkerUsage) -> WorkerEntry {
        let end = worker.ended.clone();
        WorkerEntry {
            label: worker.label.clone(),
            pid: worker.pid,
            used: UsedEntry::of(&worker.resources.usage),
            instrument_used: UsedEntry::of(&worker.resources.instrument),
            memory: worker.resources.memory,
            footprint: end.as_ref().map(|end| end.footprint),
            device: end.as_ref().and_then(|end| end.device),
            instrument_bytes: end.as_ref().and_then(|end| end.instrument_bytes),
            threads: end.map(|end| end.threads).unwrap_or_default(),
        }
    }
}

/// A reason not to trust a run without a second look.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WarningEntry {
    /// The cause, as one word for programs.
    pub kind: String,
    /// The finding, with its values.
    pub sentence: String,
    /// The remedy; may be empty.
    pub hint: String,
}

impl WarningEntry {
    fn of(warning: Warning) -> WarningEntry {
        WarningEntry { kind: warning.kind.to_string(), sentence: warning.sentence, hint: warning.hint }
    }
}

impl SummaryEntry {
    /// Of a summary.
    #[must_use]
    pub fn of(summary: &Summary, requirements: Vec<Verdict>) -> SummaryEntry {
        SummaryEntry {
            stopped_early: summary.stopped_early,
            failure: summary.failure(),
            measured_s: summary.measured_s,
            matched_after_ns: summary.matched_after_ns,
            start_up_ns: Some(summary.start_up_ns),
            phases_ns: summary.phases_ns.clone(),
            clock_error_ns: summary.clock_error_ns,
            achieved_hz: summary.achieved_hz(),
            total: TotalEntry::of(
                (&summary.sent, &summary.lateness),
                (&summary.received, &summary.latencies, &summary.responses),
                &summary.relayed,
            ),
            sent_at_least: summary.sent_at_least,
            lost: summary.lost,
            unexplained: summary.unexplained(),
            before_matched: summary.before_matched,
            used: UsedEntry::of(&summary.measured.usage),
            instrument_used: UsedEntry::of(&summary.measured.instrument),
            core_percent: summary.measured.core_percent,
            cpu_per_message_ns: summary.cpu_per_message_ns(),
            cores: summary.cores as u64,
            subscriptions: summary.subscriptions.iter().map(SubscriptionEntry::of).collect(),
            publishers: summary.publishers.iter().map(PublisherEntry::of).collect(),
            servers: summary.servers.iter().map(ServerEntry::of).collect(),
            chains: summary.chains.iter().map(ChainEntry::of).collect(),
            workers: summary.workers.iter().map(WorkerEntry::of).collect(),
            daemons: summary.daemons.clone(),
            coordinator_used: UsedEntry::of(&summary.own_usage),
            own_cost: summary.own_cost,
            calibration_before: summary.calibrations.before,
            calibration_after: summary.calibrations.after,
            warnings: summary.warnings().into_iter().map(WarningEntry::of).collect(),
            requirements,
        }
    }
}
