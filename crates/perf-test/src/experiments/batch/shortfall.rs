//! The reason why a run has no figures, with the contestant and the log of the run.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::PlannedRun;

/// The kind of reason why a run has no figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum ShortfallKind {
    /// The middleware or perf_test refused the run before any process started.
    Refused,
    /// A process crashed, or no message was received.
    Failed,
    /// A process was not ready in time or did not end in time, so perf_test killed it.
    Hung,
}

impl fmt::Display for ShortfallKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ShortfallKind::Refused => "refused",
            ShortfallKind::Failed => "failed",
            ShortfallKind::Hung => "hung",
        })
    }
}

/// A run without figures. In the folder of results it is the file `NAME.failed.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Shortfall {
    /// The contestant as the user wrote it, for example `zenoh:best`.
    pub contestant: String,
    /// The title of the run in the progress lines, for example `zenoh:best 4MB, round 2`.
    pub title: String,
    /// The name of the run's log. The log may be incomplete or missing.
    pub log: String,
    /// The reason in one word.
    pub kind: ShortfallKind,
    /// The reason as a sentence.
    pub sentence: String,
}

impl Shortfall {
    /// The kind of the reason, then the sentence.
    #[must_use]
    pub fn reason(&self) -> String {
        format!("{}: {}", self.kind, self.sentence)
    }

    pub(super) fn new(run: &PlannedRun, kind: ShortfallKind, sentence: String) -> Shortfall {
        Shortfall {
            contestant: run.contestant.clone(),
            title: run.title.clone(),
            log: run.log.display().to_string(),
            kind,
            sentence,
        }
    }
}
