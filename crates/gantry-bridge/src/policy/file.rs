//! The file of the policy.

use super::glob::matches;
use crate::graph::Kind;
use serde::Deserialize;

/// A policy file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the policy {file} cannot be used: {why}")]
pub struct PolicyError {
    /// The path of the file.
    pub file: String,
    /// The reason.
    pub why: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) rules: Vec<Rule>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    /// Patterns of full names. `*` matches any part of one chunk (the text between two slashes), `**` any number of
    /// chunks.
    names: Vec<String>,
    /// The kinds of endpoints to which the rule applies; an empty list means all.
    #[serde(default)]
    kinds: Vec<Kind>,
    pub(super) allow: Option<bool>,
    pub(super) max_rate_hz: Option<f64>,
    pub(super) priority: Option<u8>,
    pub(super) express: Option<bool>,
}

impl File {
    pub(super) fn parse(text: &str) -> Result<File, String> {
        let file: File = serde_json::from_str(text).map_err(|error| error.to_string())?;
        file.rules.iter().try_for_each(Rule::check)?;
        Ok(file)
    }
}

impl Rule {
    fn check(&self) -> Result<(), String> {
        let names = &self.names;
        if names.is_empty() {
            return Err("a rule without names matches nothing; write names: [\"**\"] for all".to_owned());
        }
        if let Some(priority) = self.priority.filter(|priority| !(1..=7).contains(priority)) {
            return Err(format!("priority {priority} of {names:?} is not 1 (most urgent) to 7"));
        }
        if let Some(rate) = self.max_rate_hz.filter(|rate| !(0.001..=1e6).contains(rate)) {
            return Err(format!(
                "max_rate_hz {rate} of {names:?} is not 0.001 to 1000000; write allow: false to carry nothing"
            ));
        }
        Ok(())
    }

    pub(super) fn matches(&self, kind: Kind, name: &str) -> bool {
        (self.kinds.is_empty() || self.kinds.contains(&kind)) && self.names.iter().any(|pattern| matches(pattern, name))
    }
}
