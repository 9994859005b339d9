//! A doubt: what speaks against trusting a run without a second look, with its cause and what to do.
//!
//! Raised by the watch over the machine and by the summary; printed with the summary and kept in the logs.

use std::fmt;

/// One doubt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// What it is about, one word for programs: `governor`, `steal`, …
    pub kind: &'static str,
    /// What was found, with its values; without a full stop.
    pub sentence: String,
    /// What to do about it; without a full stop.
    pub hint: String,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}. {}", self.sentence, self.hint)
    }
}
