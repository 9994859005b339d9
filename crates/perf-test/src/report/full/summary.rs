//! The whole run in Gantry's own log.

use serde::{Deserialize, Serialize};

use super::TotalEntry;
use super::row::UsedEntry;
use crate::measure::calibration::Calibration;
use crate::measure::daemon::DaemonUsage;
use crate::measure::memory::{Footprint, Memory};
use crate::measure::own_cost::OwnCost;
use crate::measure::threads::ThreadUsage;
use crate::report::summary::{Summary, WorkerUsage};
use crate::verdict::Verdict;
use crate::warning::Warning;

/// The whole run, without the seconds of --warmup and --ignore.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SummaryEntry {
    /// Whether it ended before its time: by Ctrl-C, a signal, or because one side was gone.
    pub stopped_early: bool,
    /// What makes the measurement worthless; null if it is good.
    pub failure: Option<String>,
    /// The time that was measured, s.
    pub measured_s: f64,
    /// From the creation of the last endpoint until all were matched, ns.
    pub matched_after_ns: i64,
    /// Messages a second of each publisher; 0 if none belongs to this run.
    pub achieved_hz: f64,
    /// What was sent and received.
    pub total: TotalEntry,
    /// Samples sent, with the last ones of a publisher that was killed, as far as somebody received them.
    pub sent_at_least: u64,
    /// Samples sent after matching and not received, summed over the subscriptions.
    pub lost: u64,
    /// Of these, not known to have left the history.
    pub unexplained: u64,
    /// Samples that others sent before a subscription of this run was matched; not lost.
    pub before_matched: u64,
    /// What all workers used while they measured.
    pub used: UsedEntry,
    /// CPU time of all workers while they measured, percent of one core.
    pub core_percent: f64,
    /// CPU time of all workers and daemons for each message received (sent, if this run receives none), ns; null if there was none.
    pub cpu_per_message_ns: Option<f64>,
    /// Cores that the program may use.
    pub cores: u64,
    /// Each worker process.
    pub workers: Vec<WorkerEntry>,
    /// Each process that the middleware needs besides.
    pub daemons: Vec<DaemonUsage>,
    /// What the coordinator used, from its start, calibrations included.
    pub coordinator_used: UsedEntry,
    /// What the instrument itself spends on each message.
    pub own_cost: OwnCost,
    /// What the machine costs, before the run.
    pub calibration_before: Calibration,
    /// What the machine costs, after it.
    pub calibration_after: Calibration,
    /// What speaks against trusting the run without a second look.
    pub warnings: Vec<WarningEntry>,
    /// What came of each --require.
    pub requirements: Vec<Verdict>,
}

/// One worker process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WorkerEntry {
    /// What it did.
    pub label: String,
    /// Its process number.
    pub pid: u32,
    /// What it used, from its start, set-up included.
    pub used: UsedEntry,
    /// What it had resident at last.
    pub memory: Memory,
    /// Its memory by kind at the end; null if it did not live to the end.
    pub footprint: Option<Footprint>,
    /// What each of its threads used while it measured; empty if it did not live to the end.
    pub threads: Vec<ThreadUsage>,
}

impl WorkerEntry {
    fn of(worker: &WorkerUsage) -> WorkerEntry {
        let (footprint, threads) = worker.ended.clone().unzip();
        WorkerEntry {
            label: worker.label.clone(),
            pid: worker.pid,
            used: UsedEntry::of(&worker.resources.usage),
            memory: worker.resources.memory,
            footprint,
            threads: threads.unwrap_or_default(),
        }
    }
}

/// What speaks against trusting a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WarningEntry {
    /// What it is about, for programs.
    pub kind: String,
    /// What was found.
    pub sentence: String,
    /// What to do about it; may be empty.
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
            used: UsedEntry::of(&summary.measured),
            core_percent: summary.core_percent,
            cpu_per_message_ns: summary.cpu_per_message_ns(),
            cores: summary.cores as u64,
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
