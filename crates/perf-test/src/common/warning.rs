//! A warning: a reason to check a result before it is trusted, with the cause and a hint.

use std::fmt;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// A reason to check a run before its figures are trusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "WarningEntry"))]
pub struct Warning {
    /// The kind of the warning: one word for programs.
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

    /// Whether the warning is of the given kind. A log may have kinds that this version does not have.
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
    /// The last publisher that belonged to another program ended before the run did.
    Alone,
    /// The cost of the machine could not be measured again after the run.
    Calibration,
    /// The clocks of publishers and subscriptions differ by an unknown part of the latencies.
    ClockError,
    /// The wall clock was set during the run.
    ClockStepped,
    /// The workers needed nearly all cores.
    CoresFull,
    /// Samples were copied although zero copy was asked for.
    Copied,
    /// Samples carried another payload than was written.
    Corrupt,
    /// CPUs were in deep sleep between messages.
    CpuIdle,
    /// A daemon of the middleware exited, had to be killed, or its usage is not known.
    Daemon,
    /// Samples arrived twice.
    Duplicates,
    /// The run ended before its time.
    EarlyEnd,
    /// An endpoint reported an error that did not end the run.
    Endpoint,
    /// A percentile rests on few samples.
    FewSamples,
    /// The CPU frequency changed during the run.
    Frequency,
    /// The CPU frequency governor slows CPUs down.
    Governor,
    /// A worker started after the common start of all.
    LateStart,
    /// Files of a worker that did not end well could not be removed.
    LeftBehind,
    /// Other programs used the CPUs.
    Load,
    /// A log could not be written.
    Log,
    /// Samples were lost and had not left the history.
    Lost,
    /// Endpoints did not match.
    Mismatch,
    /// Samples were received before they were sent, by the clock.
    NegativeLatency,
    /// The messages of a subscription wait longer and longer, and its queue will overflow.
    Overload,
    /// Samples left the history before they were taken.
    Overwritten,
    /// The instrument's own cost is a considerable part of the latencies.
    OwnCost,
    /// The publishers did not hold the rate.
    RateNotHeld,
    /// The middleware refused messages.
    Refused,
    /// The middleware refused to hand samples out.
    RefusedSamples,
    /// Samples arrived after later ones.
    Reordered,
    /// Subscriptions busy-wait on all cores.
    SpinOnFewCores,
    /// The hypervisor gave CPU time to other machines.
    Steal,
    /// The message type has a text: with zero copy, too, the text of each loan is written before the loan is valid.
    Text,
    /// A CPU quota stopped processes.
    Throttled,
    /// Messages were sent while no subscription was matched.
    Unmatched,
    /// Messages were due before the end and not sent.
    Unsent,
    /// A worker exited, failed or did not respond.
    Worker,
    /// The workers were `perf_test` itself, which needs more memory than the program that is made for them.
    WorkerProgram,
}

impl fmt::Display for WarningKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_possible_value().map_or(Ok(()), |value| f.write_str(value.get_name()))
    }
}
