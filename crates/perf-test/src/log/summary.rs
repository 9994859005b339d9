//! The summary of a run: the coordinator fills it, the log has it, and every text, requirement and comparison reads it.

use serde::{Deserialize, Serialize};

use super::{ChainEntry, ServerEntry, Spread, TotalEntry, UsedEntry};
use crate::common::verdict::Verdict;
use crate::common::warning::{Warning, WarningKind};
use crate::measure::daemon::DaemonUsage;
use crate::measure::overload::Overload;
use perf_worker::backend::DeviceMemory;
use perf_worker::endpoint::Endpoint;
use perf_worker::measure::calibration::{Calibration, Calibrations};
use perf_worker::measure::memory::{Footprint, Memory};
use perf_worker::measure::own_cost::OwnCost;
use perf_worker::measure::tally::{Received, Sent};
use perf_worker::measure::threads::ThreadUsage;

/// The whole run, without the seconds of --warmup and --ignore.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "SummaryEntry"))]
pub struct Summary {
    /// Whether the run ended early: by Ctrl-C, by a signal, or because all publishers or all subscriptions had exited.
    pub stopped_early: bool,
    /// The reason why the measurement is worthless; null if it is good.
    pub failure: Option<String>,
    /// The measured time, s.
    pub measured_s: f64,
    /// The time from the creation of the last endpoint until all endpoints were matched, ns.
    pub matched_after_ns: i64,
    /// The time from the start of the first worker process until all endpoints were matched, ns; null in older logs.
    #[serde(default)]
    pub start_up_ns: Option<i64>,
    /// The phase of each publisher of this run: the time from the start until its first message was due, ns.
    #[serde(default)]
    pub phases_ns: Vec<i64>,
    /// The largest error of a latency that the difference between the clocks of both endpoints causes, ns; null if both
    /// endpoints use one clock.
    #[serde(default)]
    pub clock_error_ns: Option<i64>,
    /// Messages per second of each publisher; 0 in a run without publishers.
    pub achieved_hz: f64,
    /// The messages sent and received.
    pub total: TotalEntry,
    /// The samples sent, including the last samples of a killed publisher that a subscription received.
    pub sent_at_least: u64,
    /// The samples that were sent after matching and not received, summed over the subscriptions.
    pub lost: u64,
    /// The lost samples that are not known to have left the history.
    pub unexplained: u64,
    /// The samples that other programs sent before a subscription of this run was matched; they are not lost.
    pub before_matched: u64,
    /// The usage of the endpoints' and the middleware's threads in all workers, in the whole seconds of the run.
    pub used: UsedEntry,
    /// The usage of the instrument's own threads in the workers, in the same seconds; not part of `used`.
    pub instrument_used: UsedEntry,
    /// The CPU time of `used`, percent of one core.
    pub core_percent: f64,
    /// The CPU time of the workers without the instrument's threads, and of all daemons, per received message (per sent
    /// message in a run without subscriptions), ns; null without messages. Messages that were received after the last
    /// second and their CPU time are included, unless a reader busy-waited for lost messages after that second.
    pub cpu_per_message_ns: Option<f64>,
    /// The cores that the program may use.
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
    /// The warnings of the run: the reasons to check its results before they are trusted.
    pub warnings: Vec<Warning>,
    /// The verdict on each --require.
    pub requirements: Vec<Verdict>,
    /// The kind of endpoints of which none finished; `None` if there is no such kind. The log has neither this field
    /// nor `hung`.
    #[serde(skip)]
    pub exited: Option<&'static str>,
    /// Whether a part of the run hung: an endpoint did not finish in time and was given up, or a process ended its
    /// reports, did not exit and was killed.
    #[serde(skip)]
    pub hung: bool,
}

impl Summary {
    /// A sentence if logs are not complete, although the measurement may be good; `None` if all logs are complete. The
    /// warnings name each such log with the cause.
    #[must_use]
    pub fn cut_logs(&self) -> Option<String> {
        match self.warnings_of(WarningKind::Log).count() {
            0 => None,
            1 => Some("a log is not complete: the warning above has the cause".to_owned()),
            logs => Some(format!("{logs} logs are not complete: the warnings above have the causes")),
        }
    }

    /// The warnings of this kind.
    pub fn warnings_of(&self, kind: WarningKind) -> impl Iterator<Item = &Warning> {
        self.warnings.iter().filter(move |warning| warning.is(kind))
    }

    /// The lost samples that had left the history.
    #[must_use]
    pub fn overwritten(&self) -> u64 {
        self.lost - self.unexplained.min(self.lost)
    }

    /// The samples that subscriptions could not report because their processes ended before.
    #[must_use]
    pub fn unreported(&self) -> u64 {
        self.subscriptions.iter().map(SubscriptionEntry::unreported).sum()
    }

    /// The costs of the machine.
    #[must_use]
    pub fn calibrations(&self) -> Calibrations {
        Calibrations { before: self.calibration_before, after: self.calibration_after }
    }
}

/// The node and the topic of an endpoint in a topology.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NodeAndTopic {
    /// The full name of the endpoint's node, for example `/namespace/name`.
    pub node: String,
    /// The full name of the endpoint's topic in the files.
    pub topic: String,
}

/// One subscription.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SubscriptionEntry {
    /// The index of the subscription.
    pub index: u32,
    /// The node and the topic of the subscription; absent outside of topologies.
    #[serde(flatten)]
    pub place: Option<NodeAndTopic>,
    /// The samples that the subscription's publishers sent; 0 if these belong to another program, and in older logs.
    #[serde(default)]
    pub sent: u64,
    /// The counts of the subscription.
    pub received: Received,
    /// The samples that were sent after matching and that the subscription did not receive.
    pub lost: u64,
    /// The service latency of the subscription.
    pub latency: Spread,
    /// The median of `latency`, ns; null without samples.
    pub p50_ns: Option<u64>,
    /// The 99th percentile of `latency`, ns; null without samples, reliable from 1000 samples on.
    pub p99_ns: Option<u64>,
    /// The overload of the subscription: whether messages waited longer from second to second; absent outside
    /// of topologies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overload: Option<Overload>,
}

impl SubscriptionEntry {
    /// Itself.
    #[must_use]
    pub fn endpoint(&self) -> Endpoint {
        Endpoint::Subscription(self.index)
    }

    /// The lost samples that had left the subscription's history. The number is limited to the lost samples, because
    /// the subscription may have received samples that the middleware counted as overwritten.
    #[must_use]
    pub fn overwritten(&self) -> u64 {
        self.received.overwritten.min(self.lost)
    }

    /// The samples that were sent to the subscription and not reported, because its process ended before.
    #[must_use]
    pub fn unreported(&self) -> u64 {
        self.sent.saturating_sub(self.received.samples + self.lost)
    }
}

/// One publisher.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PublisherEntry {
    /// The index of the publisher.
    pub index: u32,
    /// The node and the topic of the publisher; absent outside of topologies.
    #[serde(flatten)]
    pub place: Option<NodeAndTopic>,
    /// The counts of the publisher.
    pub sent: Sent,
    /// The delays of the publisher's messages from due time to send time.
    pub lateness: Spread,
    /// The time from a message's stamp until publish returned; empty outside of topologies.
    #[serde(default)]
    pub publish: Spread,
    /// The times from message to message of a publisher in a topology; empty in older logs.
    #[serde(default)]
    pub interval: Spread,
    /// The median of `lateness`, ns; null without samples.
    pub p50_ns: Option<u64>,
    /// The 99th percentile of `lateness`, ns; null without samples, reliable from 1000 samples on.
    pub p99_ns: Option<u64>,
}

impl PublisherEntry {
    /// Itself.
    #[must_use]
    pub fn endpoint(&self) -> Endpoint {
        Endpoint::Publisher(self.index)
    }
}

/// One worker process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WorkerEntry {
    /// The endpoints of the worker.
    pub label: String,
    /// The process ID of the worker.
    pub pid: u32,
    /// The usage of the worker since its start, set-up included, without the instrument's own threads.
    pub used: UsedEntry,
    /// The usage of the instrument's own threads since the start of the worker.
    pub instrument_used: UsedEntry,
    /// The resident memory of the worker at the end.
    pub memory: Memory,
    /// The worker's memory by kind at the end; null if the worker exited early.
    pub footprint: Option<Footprint>,
    /// The memory of the device that the worker measured; null if the worker measured its own process.
    #[serde(default)]
    pub device: Option<DeviceMemory>,
    /// The memory in which the instrument counts messages, bytes. It is part of the resident memory; null if it is
    /// not known.
    #[serde(default)]
    pub instrument_bytes: Option<u64>,
    /// The usage of each of the worker's threads during measurement; empty if the worker exited early.
    pub threads: Vec<ThreadUsage>,
}
