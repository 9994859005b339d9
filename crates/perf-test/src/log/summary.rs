//! The summary of a run. The coordinator creates it, the log contains it, and texts, requirements and comparisons are
//! made from it.

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

/// The figures of the whole run, without the seconds of --warmup and --ignore.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "SummaryEntry"))]
pub struct Summary {
    /// Whether the run ended early: by Ctrl-C, by a signal, or because all publishers or all subscriptions had exited.
    pub stopped_early: bool,
    /// The reason why the figures are unusable; null if they are usable.
    pub failure: Option<String>,
    /// The measured time, s.
    pub measured_s: f64,
    /// The time from the creation of the last endpoint until all endpoints were matched, ns.
    pub matched_after_ns: i64,
    /// The time from the start of the first worker process until all endpoints were matched, ns; null in older logs.
    #[serde(default)]
    pub start_up_ns: Option<i64>,
    /// For each publisher of this run, the time from the start until its first message was due, ns.
    #[serde(default)]
    pub phases_ns: Vec<i64>,
    /// The largest error of a latency due to different clocks of publisher and subscription, ns; null if all endpoints
    /// use one clock.
    #[serde(default)]
    pub clock_error_ns: Option<i64>,
    /// The messages per second that each publisher sent; 0 in a run without publishers.
    pub achieved_hz: f64,
    /// The messages sent and received.
    pub total: TotalEntry,
    /// The number of samples sent. The last samples of a killed publisher count if a subscription received them.
    pub sent_at_least: u64,
    /// The number of samples that were sent after matching and not received, summed over all subscriptions.
    pub lost: u64,
    /// The number of lost samples that are not known to have left the history before they were taken.
    pub unexplained: u64,
    /// The number of samples that other programs sent before a subscription of this run was matched. They do not count
    /// as lost.
    pub before_matched: u64,
    /// The resources that the threads of endpoints and middleware used in the whole seconds of the run, summed over all
    /// workers.
    pub used: UsedEntry,
    /// The resources that perf_test's own threads in the workers used in the same seconds. They are not part of `used`.
    pub instrument_used: UsedEntry,
    /// The CPU time of `used`, percent of one core.
    pub core_percent: f64,
    /// The CPU time of the workers, without perf_test's own threads, and of all daemons per received message (per sent
    /// message in a run without subscriptions), ns; null without messages. Messages received after the last second
    /// count with their CPU time, except if a reader busy-waited after that second for lost messages.
    pub cpu_per_message_ns: Option<f64>,
    /// The number of cores that perf_test may use.
    pub cores: u64,
    /// The subscriptions of this run.
    pub subscriptions: Vec<SubscriptionEntry>,
    /// The publishers of this run; empty in older logs.
    #[serde(default)]
    pub publishers: Vec<PublisherEntry>,
    /// The servers of a topology; empty in older logs.
    #[serde(default)]
    pub servers: Vec<ServerEntry>,
    /// The chains of a topology; empty in older logs.
    #[serde(default)]
    pub chains: Vec<ChainEntry>,
    /// The worker processes.
    pub workers: Vec<WorkerEntry>,
    /// The daemons of the middleware.
    pub daemons: Vec<DaemonUsage>,
    /// The resources that the coordinator used since its start, including calibrations.
    pub coordinator_used: UsedEntry,
    /// The cost of measuring, for each message.
    pub own_cost: OwnCost,
    /// The measured speed of the machine before the run.
    pub calibration_before: Calibration,
    /// The measured speed of the machine after the run.
    pub calibration_after: Calibration,
    /// The warnings of the run: reasons to check its results before they are trusted.
    pub warnings: Vec<Warning>,
    /// The verdicts on the requirements (--require), one for each.
    pub requirements: Vec<Verdict>,
    /// The kind of endpoint (publishers or subscriptions) of which all exited early; `None` if there is none. The log
    /// has neither this field nor `hung`.
    #[serde(skip)]
    pub exited: Option<&'static str>,
    /// Whether a part of the run hung: an endpoint did not finish in time, or a worker whose reports had ended did not
    /// exit and was killed.
    #[serde(skip)]
    pub hung: bool,
}

impl Summary {
    /// A sentence that logs are incomplete; `None` if all logs are complete. The warnings contain the name of each
    /// incomplete log and the cause.
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

    /// The number of lost samples that left the history before they were taken.
    #[must_use]
    pub fn overwritten(&self) -> u64 {
        self.lost - self.unexplained.min(self.lost)
    }

    /// The number of samples that subscriptions could not report, because their processes ended before.
    #[must_use]
    pub fn unreported(&self) -> u64 {
        self.subscriptions.iter().map(SubscriptionEntry::unreported).sum()
    }

    /// The measured speed of the machine before and after the run.
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
    /// The full name of the endpoint's topic, as in the topology files.
    pub topic: String,
}

/// One subscription of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SubscriptionEntry {
    /// The index of the subscription.
    pub index: u32,
    /// The node and the topic of the subscription; absent in runs without a topology.
    #[serde(flatten)]
    pub place: Option<NodeAndTopic>,
    /// The number of samples that the subscription's publishers sent; 0 if they belong to another program, and in older
    /// logs.
    #[serde(default)]
    pub sent: u64,
    /// The counts of the subscription.
    pub received: Received,
    /// The number of samples that were sent after matching and that the subscription did not receive.
    pub lost: u64,
    /// The latencies of the subscription from the send time.
    pub latency: Spread,
    /// The median of `latency`, ns; null without samples.
    pub p50_ns: Option<u64>,
    /// The 99th percentile of `latency`, ns; null without samples, reliable if there are at least 1000 samples.
    pub p99_ns: Option<u64>,
    /// Whether the messages of the subscription wait longer from second to second; absent in runs without a topology.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overload: Option<Overload>,
}

impl SubscriptionEntry {
    /// The subscription as an endpoint.
    #[must_use]
    pub fn endpoint(&self) -> Endpoint {
        Endpoint::Subscription(self.index)
    }

    /// The number of lost samples that left the history before they were taken. It is limited to the number of lost
    /// samples, because the middleware may count samples as overwritten that the subscription has received.
    #[must_use]
    pub fn overwritten(&self) -> u64 {
        self.received.overwritten.min(self.lost)
    }

    /// The number of samples that the subscription could not report, because its process ended before.
    #[must_use]
    pub fn unreported(&self) -> u64 {
        self.sent.saturating_sub(self.received.samples + self.lost)
    }
}

/// One publisher of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PublisherEntry {
    /// The index of the publisher.
    pub index: u32,
    /// The node and the topic of the publisher; absent in runs without a topology.
    #[serde(flatten)]
    pub place: Option<NodeAndTopic>,
    /// The counts of the publisher.
    pub sent: Sent,
    /// The delays of the publisher's messages from due time to send time.
    pub lateness: Spread,
    /// The time from a message's stamp until publish returned; empty in runs without a topology.
    #[serde(default)]
    pub publish: Spread,
    /// The times between successive messages; empty in runs without a topology, and in older logs.
    #[serde(default)]
    pub interval: Spread,
    /// The median of `lateness`, ns; null without samples.
    pub p50_ns: Option<u64>,
    /// The 99th percentile of `lateness`, ns; null without samples, reliable if there are at least 1000 samples.
    pub p99_ns: Option<u64>,
}

impl PublisherEntry {
    /// The publisher as an endpoint.
    #[must_use]
    pub fn endpoint(&self) -> Endpoint {
        Endpoint::Publisher(self.index)
    }
}

/// One worker process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WorkerEntry {
    /// The endpoints of the worker in words, such as `subscription 0`.
    pub label: String,
    /// The process ID of the worker.
    pub pid: u32,
    /// The resources that the worker used since its start, including its set-up, without perf_test's own threads.
    pub used: UsedEntry,
    /// The resources that perf_test's own threads used since the start of the worker.
    pub instrument_used: UsedEntry,
    /// The resident memory of the worker at the end.
    pub memory: Memory,
    /// The worker's memory at the end, by kind of memory; null if the worker exited early.
    pub footprint: Option<Footprint>,
    /// The memory of the device (such as a microcontroller) that the worker measured; null if it measured its own
    /// process.
    #[serde(default)]
    pub device: Option<DeviceMemory>,
    /// The memory of perf_test's own counters and histograms, bytes. It is part of the resident memory; null if it is
    /// unknown.
    #[serde(default)]
    pub instrument_bytes: Option<u64>,
    /// The CPU time of each of the worker's threads during the measurement; empty if the worker exited early.
    pub threads: Vec<ThreadUsage>,
}
