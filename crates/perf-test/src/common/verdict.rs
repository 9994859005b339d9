//! The verdict on one requirement.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Whether a run met a requirement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Verdict {
    /// The requirement as it was given.
    pub requirement: String,
    /// Whether the run met it.
    pub met: bool,
    /// The value that was found, with its unit.
    pub found: String,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.met { "met    " } else { "NOT met" };
        write!(f, "{verdict}  {}: {}", self.requirement, self.found)
    }
}
