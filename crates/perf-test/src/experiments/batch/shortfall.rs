//! A run without figures: its contestant, and the sentence with the reason.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::PlannedRun;

/// The way in which a run came to have no figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum ShortfallKind {
    /// The middleware or the instrument refused it before a process was started.
    Refused,
    /// A process crashed, or nothing was received.
    Failed,
    /// A process was not ready, or did not finish, in time and was given up.
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

/// A run without figures; in the folder of results it is the file `NAME.failed.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Shortfall {
    /// The contestant as it is spelt.
    pub contestant: String,
    /// The run in words.
    pub title: String,
    /// The name of its log, which may not exist or is incomplete.
    pub log: String,
    /// The way in which it has no figures.
    pub kind: ShortfallKind,
    /// The reason.
    pub sentence: String,
}

impl Shortfall {
    /// Its kind and its sentence.
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
