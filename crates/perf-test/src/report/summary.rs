//! The whole run in one look: samples, latencies, schedule, CPU, memory, calibration, doubts.
//!
//! Filled by the coordinator, printed by `main`, compared by `compare`. Every statistic stands beside
//! its number of samples; what cannot be trusted is marked, never left out.

mod text;

pub use text::time;

use crate::experiment::Experiment;
use crate::measure::calibration::Calibrations;
use crate::measure::histogram::Latencies;
use crate::measure::tally::{Received, Sent};
use crate::measure::usage::Usage;

/// The copies must cost this many wake-ups to be judged.
const COPIES_OVER_WAKE_UP: f64 = 5.0;

/// One second of the run, for comparisons.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Second {
    /// Mean latency, nanoseconds; none if nothing was received.
    pub latency_ns: Option<f64>,
    /// CPU time of all workers, percent of one core.
    pub core_percent: f64,
}

/// What one worker process has used.
#[derive(Clone, Debug)]
pub struct WorkerUsage {
    /// What it did.
    pub label: String,
    /// Its process id.
    pub pid: u32,
    /// Since it started.
    pub usage: Usage,
}

/// The whole run, without the seconds that `--ignore` leaves out.
#[derive(Clone, Debug)]
pub struct Summary {
    /// What was run.
    pub experiment: Experiment,
    /// Ended before its time, by Ctrl-C, a signal, or because one side was gone.
    pub stopped_early: bool,
    /// Time measured, seconds.
    pub measured_s: f64,
    /// All publishers, as they reported it.
    pub sent: Sent,
    /// Samples sent, including a killed publisher's last ones that somebody received.
    pub sent_at_least: u64,
    /// All subscriptions.
    pub received: Received,
    /// Sent after matching and not received, summed over the subscriptions.
    pub lost: u64,
    /// Sent by others before a subscription of this run was matched.
    pub before_matched: u64,
    /// All latencies.
    pub latencies: Latencies,
    /// Each worker.
    pub workers: Vec<WorkerUsage>,
    /// CPU time of all workers while they measured, nanoseconds.
    pub measured_cpu_ns: i64,
    /// The same in percent of one core.
    pub core_percent: f64,
    /// Cores that the program may use.
    pub cores: usize,
    /// What the coordinator itself has used, calibration included.
    pub own_usage: Usage,
    /// What the machine itself costs.
    pub calibrations: Calibrations,
    /// The run second by second.
    pub seconds: Vec<Second>,
    /// The side of which nobody lived to the end.
    pub gone: Option<&'static str>,
    /// What else happened, one sentence each.
    pub notes: Vec<String>,
}

impl Summary {
    /// What makes this measurement worthless; `None` if it is good.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        let topic = &self.experiment.topic;
        if let Some(gone) = self.gone {
            return Some(format!("none of the {gone} lived to the end of the run"));
        }
        if self.measured_s <= 0.0 {
            let ignore_s = self.experiment.ignore_s;
            return Some(format!(
                "it was ended within the {ignore_s} s that --ignore leaves out: nothing was measured. Let it run longer"
            ));
        }
        if self.experiment.publishers > 0 && self.sent_at_least == 0 {
            return Some("no sample was sent".to_owned());
        }
        if self.received.misnumbered > 0 {
            let n = self.received.misnumbered;
            return Some(format!(
                "{n} samples carried another sample's number: their memory was overwritten or mixed up"
            ));
        }
        if self.experiment.subscriptions > 0 && self.received.samples + self.received.history == 0 {
            return Some(format!(
                "no sample was received on topic {topic}: is a publisher with the same type and QoS there?"
            ));
        }
        if self.experiment.subscriptions == 0 && self.sent.unmatched == self.sent.samples {
            return Some(format!("no subscription was matched on topic {topic} at any time"));
        }
        None
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
        self.workers.iter().for_each(|worker| sum.add(&worker.usage));
        sum
    }

    /// Mean latency over what two warm copies and one wake-up cost; none with zero copy, without samples, or if the ratio would
    /// show something else: several subscriptions that wait for each other, or copies that cost less than wake-ups vary.
    #[must_use]
    pub fn copy_ratio(&self) -> Option<f64> {
        let alone = self.experiment.subscriptions == 1;
        let found = self.calibrations.mean();
        let copies_matter = 2.0 * found.warm_copy_ns > COPIES_OVER_WAKE_UP * found.wake_up_ns;
        let possible = !self.experiment.zero_copy && self.received.latency_ns.n > 0 && alone && copies_matter;
        possible.then(|| self.received.latency_ns.mean / found.copy_path_ns())
    }
}

#[cfg(test)]
pub(crate) mod tests;
