//! A warning: a reason to check a result before it is trusted, with the cause and a hint.

use std::fmt;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// A reason to check a run before its figures are trusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "WarningEntry"))]
pub struct Warning {
    /// The kind of the warning: one word, by which programs recognise it.
    pub kind: String,
    /// The finding as a sentence, with its values.
    pub sentence: String,
    /// The remedy; empty if there is none.
    pub hint: String,
}

impl Warning {
    /// Makes a warning of the given kind. The sentence and the hint have no full stop.
    #[must_use]
    pub fn new(kind: WarningKind, sentence: impl Into<String>, hint: impl Into<String>) -> Warning {
        Warning { kind: kind.to_string(), sentence: sentence.into(), hint: hint.into() }
    }

    /// Makes a warning if `is_so`; else `None`.
    #[must_use]
    pub fn when(is_so: bool, kind: WarningKind, sentence: String, hint: impl Into<String>) -> Option<Warning> {
        is_so.then(|| Warning::new(kind, sentence, hint))
    }

    /// Whether the warning is of the given kind. Kinds are compared as text, because a log of another version may have
    /// kinds that this version does not have.
    #[must_use]
    pub fn is(&self, kind: WarningKind) -> bool {
        self.kind == kind.to_string()
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)?;
        if self.hint.is_empty() { Ok(()) } else { write!(f, ". {}", self.hint) }
    }
}

/// The kinds of warnings. The name of a kind in logs is its variant in kebab case, such as `few-samples`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WarningKind {
    /// The last publisher of another program ended before the run did.
    Alone,
    /// The speed of the machine could not be measured again after the run, for comparison with its speed before.
    Calibration,
    /// Publishers and subscriptions use different clocks, whose unknown offset is a part of the latencies.
    ClockError,
    /// The wall clock was set during the run.
    ClockStepped,
    /// The workers needed nearly all cores.
    CoresFull,
    /// Samples were copied although the user requested zero copy.
    Copied,
    /// The received payload differs from the sent payload.
    Corrupt,
    /// CPUs were in deep sleep between messages.
    CpuIdle,
    /// A daemon of the middleware exited or had to be killed, or its CPU time and memory are unknown.
    Daemon,
    /// Samples arrived twice.
    Duplicates,
    /// The run ended before its planned end.
    EarlyEnd,
    /// An endpoint reported an error that did not end the run.
    Endpoint,
    /// A percentile is computed from few samples.
    FewSamples,
    /// The CPU frequency changed during the run.
    Frequency,
    /// The CPU frequency governor slows CPUs down.
    Governor,
    /// A worker started to send or receive after the start time that all workers share.
    LateStart,
    /// The files of a worker that exited with an error could not be removed.
    LeftBehind,
    /// Other programs used the CPUs.
    Load,
    /// A log could not be written.
    Log,
    /// Samples were lost for another reason than a history that is too short.
    Lost,
    /// Endpoints did not match.
    Mismatch,
    /// The time stamps say that samples were received before they were sent.
    NegativeLatency,
    /// The messages of a subscription wait longer and longer, and its queue will overflow.
    Overload,
    /// Samples left the history before they were taken.
    Overwritten,
    /// The cost of measuring is a considerable part of the latencies.
    OwnCost,
    /// The publishers did not hold the rate.
    RateNotHeld,
    /// The middleware refused to publish messages.
    Refused,
    /// The middleware returned an error when a subscription took samples.
    RefusedSamples,
    /// Samples arrived after samples that were sent later.
    Reordered,
    /// Subscriptions busy-wait on all cores.
    SpinOnFewCores,
    /// The hypervisor gave CPU time to other machines.
    Steal,
    /// The message contains a string. Even with zero copy, the string is written anew for each loan, so that the loan
    /// is valid.
    Text,
    /// A CPU quota (cgroup) throttled processes.
    Throttled,
    /// Messages were sent while no subscription was matched.
    Unmatched,
    /// Messages that were due before the end of the run were not sent.
    Unsent,
    /// A worker exited, failed or did not respond.
    Worker,
    /// The workers ran `perf_test` itself, which needs more memory than the separate worker program.
    WorkerProgram,
}

impl fmt::Display for WarningKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_possible_value().map_or(Ok(()), |value| f.write_str(value.get_name()))
    }
}
