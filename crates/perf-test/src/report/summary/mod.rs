//! The summary of a run: samples, latencies, schedule, CPU, memory, calibration, warnings.
//!
//! Every statistic has its number of samples beside it; an unreliable value is marked, never left out.

pub mod chains;
mod machine;
mod phases;
mod subscriptions;
pub mod text;

pub use chains::ChainFigures;
pub(crate) use machine::is_instrument;

use serde::{Deserialize, Serialize};

use crate::measure::calibration::Calibrations;
use crate::measure::daemon::DaemonUsage;
use crate::measure::overload::Overload;
use crate::warning::{Warning, WarningKind};
use perf_worker::backend::DeviceMemory;
use perf_worker::endpoint::Endpoint;
use perf_worker::measure::cells::Cells;
use perf_worker::measure::histogram::Latencies;
use perf_worker::measure::memory::Footprint;
use perf_worker::measure::moments::Moments;
use perf_worker::measure::own_cost::OwnCost;
use perf_worker::measure::resources::{Measured, Resources};
use perf_worker::measure::tally::{Received, Relayed, Sent};
use perf_worker::measure::threads::ThreadUsage;
use perf_worker::measure::usage::Usage;
use perf_worker::run_spec::{Roundtrip, RunSpec};

/// The ratio to the copies is shown only if they cost at least this many wake-ups.
const MIN_COPIES_PER_WAKE_UP: f64 = 5.0;

/// The usage of one worker process.
#[derive(Clone, Debug)]
pub struct WorkerUsage {
    /// Its endpoints.
    pub label: String,
    /// Its process id.
    pub pid: u32,
    /// The usage since it started, and its memory at the end.
    pub resources: Resources,
    /// Its last report; none if the worker exited early.
    pub ended: Option<WorkerEnd>,
}

/// The last report of a worker.
#[derive(Clone, Debug)]
pub struct WorkerEnd {
    /// Its memory by kind.
    pub footprint: Footprint,
    /// The usage of its threads during measurement.
    pub threads: Vec<ThreadUsage>,
    /// The memory of the device that was measured, if that is not its process.
    pub device: Option<DeviceMemory>,
    /// The memory in which the instrument counts, bytes.
    pub instrument_bytes: Option<u64>,
}

/// The place of an endpoint in a topology.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Place {
    /// The full name of its node, as `/namespace/name`.
    pub node: String,
    /// The full name of its topic in the files.
    pub topic: String,
}

/// The figures of one subscription, without the seconds that `--ignore` leaves out.
#[derive(Clone, Debug)]
pub struct SubscriptionFigures {
    /// The subscription.
    pub endpoint: Endpoint,
    /// Its place; none in other runs.
    pub place: Option<Place>,
    /// Whether its messages wait longer and longer; none in other runs.
    pub overload: Option<Overload>,
    /// Samples that its publishers sent; 0 if they belong to another program.
    pub sent: u64,
    /// Its counts.
    pub received: Received,
    /// Samples sent after matching that it did not receive.
    pub lost: u64,
    /// Its latencies from the send time.
    pub latencies: Cells,
}

impl SubscriptionFigures {
    /// Lost samples that had left its history.
    #[must_use]
    pub fn overwritten(&self) -> u64 {
        self.received.overwritten.min(self.lost)
    }

    /// Samples that were sent to it, and that it could not report because its process ended before.
    #[must_use]
    pub fn unreported(&self) -> u64 {
        self.sent.saturating_sub(self.received.samples + self.lost)
    }
}

/// The figures of one publisher, without the seconds that `--ignore` leaves out.
#[derive(Clone, Debug)]
pub struct PublisherFigures {
    /// The publisher.
    pub endpoint: Endpoint,
    /// Its place; none in other runs.
    pub place: Option<Place>,
    /// Its counts.
    pub sent: Sent,
    /// The delays of its messages from due time to send time.
    pub lateness: Cells,
    /// Of an executor's, the times from message to message, ns.
    pub interval_ns: Moments,
}

/// The figures of one server of a topology.
#[derive(Clone, Copy, Debug)]
pub struct ServerFigures {
    /// The server.
    pub endpoint: Endpoint,
    /// Requests that its clients sent.
    pub sent: u64,
    /// The requests that it answered.
    pub relayed: Relayed,
}

/// The summary of a run, without the seconds that `--ignore` leaves out.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The run.
    pub spec: RunSpec,
    /// The run ended early: by Ctrl-C, by a signal, or because all publishers or all subscriptions had exited.
    pub stopped_early: bool,
    /// An endpoint did not finish in time and was given up, or its process ended its reports, did not exit and was
    /// killed.
    pub hung: bool,
    /// The measured time, seconds.
    pub measured_s: f64,
    /// From the last endpoint's creation until all were matched, nanoseconds.
    pub matched_after_ns: i64,
    /// From the start of the first worker process until all endpoints were matched, nanoseconds.
    pub start_up_ns: i64,
    /// The phase of each publisher, nanoseconds.
    pub phases_ns: Vec<i64>,
    /// The largest error of a latency because the clocks of both ends differ, nanoseconds; none of one clock.
    pub clock_error_ns: Option<i64>,
    /// The counts of all publishers, as reported.
    pub sent: Sent,
    /// Samples sent, including the last samples of a killed publisher that a subscription received.
    pub sent_at_least: u64,
    /// The counts of all subscriptions.
    pub received: Received,
    /// The counts of the relay, if there is one.
    pub relayed: Relayed,
    /// Samples sent after matching and not received, summed over the subscriptions.
    pub lost: u64,
    /// Samples that other programs sent before a subscription of this run was matched.
    pub before_matched: u64,
    /// All latencies from the send time.
    pub latencies: Latencies,
    /// All latencies from the due time.
    pub responses: Latencies,
    /// The delays of all messages from due time to send time.
    pub lateness: Latencies,
    /// Each subscription: the figures above hide one that is slow or gets nothing.
    pub subscriptions: Vec<SubscriptionFigures>,
    /// Each publisher of this run.
    pub publishers: Vec<PublisherFigures>,
    /// Each server of a topology.
    pub servers: Vec<ServerFigures>,
    /// Each chain of a topology.
    pub chains: Vec<ChainFigures>,
    /// The workers.
    pub workers: Vec<WorkerUsage>,
    /// The daemons of the middleware.
    pub daemons: Vec<DaemonUsage>,
    /// The cost of the whole seconds of the run.
    pub measured: Measured,
    /// Cores that the program may use.
    pub cores: usize,
    /// The usage of the coordinator, calibration included.
    pub own_usage: Usage,
    /// The costs of the machine itself.
    pub calibrations: Calibrations,
    /// The kind of endpoints of which none finished.
    pub exited: Option<&'static str>,
    /// The cost of the instrument itself for each message.
    pub own_cost: OwnCost,
    /// The warnings of the coordinator and of the watch over the machine; [`warnings`](Self::warnings) adds those from
    /// the figures.
    pub run_warnings: Vec<Warning>,
}

impl Summary {
    /// The reason why this measurement is worthless; `None` if it is good.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        let topic = &self.spec.topic;
        if let Some(exited) = self.exited {
            return Some(format!("none of the {exited} finished the run"));
        }
        if self.measured_s <= 0.0 {
            let left_out_s = self.spec.left_out_s();
            return Some(format!(
                "the run ended within the {left_out_s} s that --warmup and --ignore leave out, so nothing was measured. Let it run longer"
            ));
        }
        if self.spec.roundtrip == Roundtrip::Relay {
            let silent = self.relayed.samples == 0;
            return silent
                .then(|| format!("no message was relayed: is a `--roundtrip-mode Main` running on topic {topic}?"));
        }
        if self.spec.publishers > 0 && self.sent_at_least == 0 {
            return Some("no sample was sent".to_owned());
        }
        if self.received.corrupt > 0 {
            let n = self.received.corrupt;
            return Some(format!("{n} samples had a different payload than was written: their memory was overwritten"));
        }
        if self.spec.subscriptions > 0 && self.received.samples + self.received.history == 0 {
            if self.spec.is_private() {
                return Some(format!(
                    "no sample was received on topic {topic}, although all endpoints were matched: all samples were lost, or took longer \
                     than the wait at the end"
                ));
            }
            return Some(format!(
                "no sample was received on topic {topic}: is a publisher with the same type and compatible QoS running?"
            ));
        }
        if self.spec.subscriptions == 0 && self.sent.unmatched == self.sent.samples {
            return Some(format!("no subscription was matched on topic {topic} at any time"));
        }
        None
    }

    /// The reason why the logs are not all that a reader of them expects, though the measurement may be good; `None` if
    /// they are complete. The warnings name each log with its cause.
    #[must_use]
    pub fn cut_logs(&self) -> Option<String> {
        let logs = self.run_warnings.iter().filter(|warning| warning.kind == WarningKind::Log).count();
        match logs {
            0 => None,
            1 => Some("a log is not complete: the warning above has the cause".to_owned()),
            logs => Some(format!("{logs} logs are not complete: the warnings above have the causes")),
        }
    }

    /// Messages per second of each publisher.
    #[must_use]
    pub fn achieved_hz(&self) -> f64 {
        if self.measured_s <= 0.0 || self.spec.publishers == 0 {
            return 0.0;
        }
        self.sent_at_least as f64 / self.measured_s / f64::from(self.spec.publishers)
    }

    /// CPU time of all workers and daemons per received message, or per sent message in a run without subscriptions,
    /// nanoseconds. The instrument's own threads are not part of it.
    #[must_use]
    pub fn cpu_per_message_ns(&self) -> Option<f64> {
        let daemons_ns: u64 = self.daemons.iter().map(|daemon| daemon.cpu_ns).sum();
        let Measured { usage, received, sent, .. } = self.measured;
        let messages = if self.spec.subscriptions == 0 { sent } else { received };
        (messages > 0).then(|| (usage.cpu_ns() as f64 + daemons_ns as f64) / messages as f64)
    }

    /// Lost samples that had left the history: of each subscription no more than it lost, because it may have received
    /// samples that the middleware counted as overwritten.
    #[must_use]
    pub fn overwritten(&self) -> u64 {
        match self.subscriptions.as_slice() {
            [] => self.received.overwritten.min(self.lost),
            each => each.iter().map(SubscriptionFigures::overwritten).sum(),
        }
    }

    /// Lost samples that had not left the history.
    #[must_use]
    pub fn unexplained(&self) -> u64 {
        self.lost.saturating_sub(self.overwritten())
    }

    /// Samples that subscriptions could not report because their processes ended before.
    #[must_use]
    pub fn unreported(&self) -> u64 {
        self.subscriptions.iter().map(SubscriptionFigures::unreported).sum()
    }

    /// The sum of the peaks of resident memory of all workers and daemons: `peak_kib` of the log's
    /// [`RunMemory`](super::full::RunMemory).
    #[must_use]
    pub fn peak_rss_kib(&self) -> u64 {
        let workers = self.workers.iter().map(|worker| worker.resources.memory.peak_rss_kib);
        workers.chain(self.daemons.iter().map(|daemon| daemon.memory.peak_rss_kib)).sum()
    }

    /// The sum of the usage of all workers since each started, without the instrument's own threads.
    #[must_use]
    pub fn usage(&self) -> Usage {
        let mut sum = Usage::default();
        self.workers.iter().for_each(|worker| sum.add(&worker.resources.usage));
        sum
    }

    /// Mean latency divided by the cost of two warm copies and one wake-up. `None` with zero copy, without samples, or
    /// if the ratio would show something else: several subscriptions that wait for each other, or copies cheaper than
    /// the variation of wake-ups.
    #[must_use]
    pub fn copy_ratio(&self) -> Option<f64> {
        let alone = self.spec.subscriptions == 1;
        let found = self.calibrations.mean();
        let copies_matter = 2.0 * found.warm_copy_ns > MIN_COPIES_PER_WAKE_UP * found.wake_up_ns;
        let possible = !self.spec.zero_copy && self.received.latency_ns.n > 0 && alone && copies_matter;
        possible.then(|| self.received.latency_ns.mean / found.copy_path_ns())
    }
}

#[cfg(test)]
pub(crate) mod tests;
