//! The verdict on one requirement (`--require`).

use std::fmt;

use serde::{Deserialize, Serialize};

/// A requirement with the statement whether a run met it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Verdict {
    /// The requirement as the user gave it.
    pub requirement: String,
    /// Whether the run met the requirement.
    pub met: bool,
    /// The measured value, with its unit.
    pub found: String,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.met { "met    " } else { "NOT met" };
        write!(f, "{verdict}  {}: {}", self.requirement, self.found)
    }
}
