//! The whole run in one look: samples, latencies, schedule, CPU, memory, calibration, warnings.
//!
//! Filled by the coordinator, printed by `main`, compared by `compare`. Every statistic stands beside
//! its number of samples; what cannot be trusted is marked, never left out.

mod machine;
pub mod text;

use crate::measure::calibration::Calibrations;
use crate::measure::daemon::DaemonUsage;
use crate::measure::histogram::Latencies;
use crate::measure::memory::Footprint;
use crate::measure::moments::Moments;
use crate::measure::own_cost::OwnCost;
use crate::measure::resources::Resources;
use crate::measure::tally::{Received, Relayed, Sent};
use crate::measure::threads::ThreadUsage;
use crate::measure::usage::Usage;
use crate::run_spec::{Roundtrip, RunSpec};
use crate::warning::Warning;

/// The copies must cost this many wake-ups to be judged.
const COPIES_OVER_WAKE_UP: f64 = 5.0;

/// What one worker process has used.
#[derive(Clone, Debug)]
pub struct WorkerUsage {
    /// What it did.
    pub label: String,
    /// Its process id.
    pub pid: u32,
    /// Since it started, and what it had in memory at last.
    pub resources: Resources,
    /// Its memory by kind, and what its threads used while they measured; none of one that did not live to the end.
    pub ended: Option<(Footprint, Vec<ThreadUsage>)>,
}

/// The whole run, without the seconds that `--ignore` leaves out.
#[derive(Clone, Debug)]
pub struct Summary {
    /// What was run.
    pub spec: RunSpec,
    /// Ended before its time, by Ctrl-C, a signal, or because one side was gone.
    pub stopped_early: bool,
    /// Time measured, seconds.
    pub measured_s: f64,
    /// From the last endpoint's creation until all were matched, nanoseconds.
    pub matched_after_ns: i64,
    /// All publishers, as they reported it.
    pub sent: Sent,
    /// Samples sent, including a killed publisher's last ones that somebody received.
    pub sent_at_least: u64,
    /// All subscriptions.
    pub received: Received,
    /// The relay, if there is one.
    pub relayed: Relayed,
    /// Sent after matching and not received, summed over the subscriptions.
    pub lost: u64,
    /// Sent by others before a subscription of this run was matched.
    pub before_matched: u64,
    /// All latencies from the stamps.
    pub latencies: Latencies,
    /// All latencies from the schedule.
    pub responses: Latencies,
    /// How late all messages were sent.
    pub lateness: Latencies,
    /// Each worker.
    pub workers: Vec<WorkerUsage>,
    /// Each process that the middleware needs besides.
    pub daemons: Vec<DaemonUsage>,
    /// What all workers used while they measured.
    pub measured: Usage,
    /// CPU time of all workers while they measured, percent of one core.
    pub core_percent: f64,
    /// Cores that the program may use.
    pub cores: usize,
    /// What the coordinator itself has used, calibration included.
    pub own_usage: Usage,
    /// What the machine itself costs.
    pub calibrations: Calibrations,
    /// The mean latencies of single seconds, nanoseconds.
    pub second_latencies_ns: Moments,
    /// CPU time of all workers in single seconds, percent of one core.
    pub second_core_percents: Moments,
    /// The kind of endpoints of which none lived to the end.
    pub gone: Option<&'static str>,
    /// What the instrument itself spends on each message.
    pub own_cost: OwnCost,
    /// Those of the coordinator and of the watch over the machine; [`warnings`](Self::warnings) adds those of the figures.
    pub run_warnings: Vec<Warning>,
}

impl Summary {
    /// What makes this measurement worthless; `None` if it is good.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        let topic = &self.spec.topic;
        if let Some(gone) = self.gone {
            return Some(format!("none of the {gone} lived to the end of the run"));
        }
        if self.measured_s <= 0.0 {
            let left_out_s = self.spec.left_out_s();
            return Some(format!(
                "it was ended within the {left_out_s} s that --warmup and --ignore leave out: nothing was measured. Let it run longer"
            ));
        }
        if self.spec.roundtrip == Roundtrip::Relay {
            let silent = self.relayed.samples == 0;
            return silent
                .then(|| format!("no message was passed on: is a `--roundtrip-mode Main` on topic {topic} there?"));
        }
        if self.spec.publishers > 0 && self.sent_at_least == 0 {
            return Some("no sample was sent".to_owned());
        }
        if self.received.corrupt > 0 {
            let n = self.received.corrupt;
            return Some(format!("{n} samples carried another payload than was written: their memory was overwritten"));
        }
        if self.spec.subscriptions > 0 && self.received.samples + self.received.history == 0 {
            if self.spec.is_private() {
                return Some(format!(
                    "no sample was received on topic {topic}, although all were matched: everything was lost, or takes longer than \
                     it was waited for at the end"
                ));
            }
            return Some(format!(
                "no sample was received on topic {topic}: is a publisher with the same type and QoS there?"
            ));
        }
        if self.spec.subscriptions == 0 && self.sent.unmatched == self.sent.samples {
            return Some(format!("no subscription was matched on topic {topic} at any time"));
        }
        None
    }

    /// Messages per second of each publisher.
    #[must_use]
    pub fn achieved_hz(&self) -> f64 {
        if self.measured_s <= 0.0 || self.spec.publishers == 0 {
            return 0.0;
        }
        self.sent_at_least as f64 / self.measured_s / f64::from(self.spec.publishers)
    }

    /// CPU time of all workers and daemons for each message that was received, or sent if nobody of this run receives, nanoseconds.
    #[must_use]
    pub fn cpu_per_message_ns(&self) -> Option<f64> {
        let alone = self.spec.subscriptions == 0;
        let messages = if alone { self.sent.samples.max(self.relayed.samples) } else { self.received.samples };
        let daemons_ns: u64 = self.daemons.iter().map(|daemon| daemon.cpu_ns).sum();
        (messages > 0).then(|| (self.measured.cpu_ns() as f64 + daemons_ns as f64) / messages as f64)
    }

    /// Lost samples that had not left the history.
    #[must_use]
    pub fn unexplained(&self) -> u64 {
        self.lost.saturating_sub(self.received.overwritten)
    }

    /// The usage of all workers together, since each started.
    #[must_use]
    pub fn usage(&self) -> Usage {
        let mut sum = Usage::default();
        self.workers.iter().for_each(|worker| sum.add(&worker.resources.usage));
        sum
    }

    /// Mean latency over what two warm copies and one wake-up cost; none with zero copy, without samples, or if the ratio would
    /// show something else: several subscriptions that wait for each other, or copies that cost less than wake-ups vary.
    #[must_use]
    pub fn copy_ratio(&self) -> Option<f64> {
        let alone = self.spec.subscriptions == 1;
        let found = self.calibrations.mean();
        let copies_matter = 2.0 * found.warm_copy_ns > COPIES_OVER_WAKE_UP * found.wake_up_ns;
        let possible = !self.spec.zero_copy && self.received.latency_ns.n > 0 && alone && copies_matter;
        possible.then(|| self.received.latency_ns.mean / found.copy_path_ns())
    }
}

#[cfg(test)]
pub(crate) mod tests;
