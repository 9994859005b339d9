//! The policy: the names that a bridge carries, with their rates and priorities.

mod file;
mod glob;

pub use file::PolicyError;

use crate::graph::Kind;
use file::{File, Rule};
use std::{path::Path, time::Duration};

/// The priority of samples for which no rule sets one, from 1 (most urgent) to 7.
const DEFAULT_PRIORITY: u8 = 5;

/// The rules that follow the user's rules. Stop commands have the highest priority; logs have the lowest one and a
/// limited rate.
const DEFAULTS: &str = r#"{ "rules": [
    { "names": ["**/_action/cancel_goal", "/emergency*", "/emergency*/**", "/e_stop", "**/e_stop"], "priority": 1, "express": true },
    { "names": ["/rosout", "/parameter_events"], "priority": 7, "max_rate_hz": 200 }
] }"#;

/// The policy of a bridge: a list of rules. For each property of a name, the first rule applies that matches the name
/// and sets the property.
#[derive(Clone, Debug)]
pub struct Policy {
    rules: Vec<Rule>,
}

/// The properties that the policy gives an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Treatment {
    /// True if the endpoint is shown and its messages are carried.
    pub is_allowed: bool,
    /// The least mean time between two samples of the endpoint, by the rate limit.
    pub min_period: Duration,
    /// The priority, from 1 (most urgent) to 7.
    pub priority: u8,
    /// True if a sample is sent at once, instead of waiting for further samples that fill the packet.
    pub is_express: bool,
}

impl Policy {
    /// Reads the policy from a JSON file. The guide "Other hosts" has an example.
    ///
    /// # Errors
    /// The file cannot be read, or is not a valid policy.
    pub fn from_file(path: &Path) -> Result<Policy, PolicyError> {
        let named = |why: String| PolicyError { file: path.display().to_string(), why };
        let text = std::fs::read_to_string(path).map_err(|error| named(error.to_string()))?;
        Policy::from_text(&text).map_err(named)
    }

    /// Parses a policy in JSON. The error is a sentence with the reason, without the name of the file.
    ///
    /// # Errors
    /// The text is not a valid policy.
    pub fn from_text(text: &str) -> Result<Policy, String> {
        let own = File::parse(text)?.rules;
        let defaults = File::parse(DEFAULTS)?.rules;
        Ok(Policy { rules: own.into_iter().chain(defaults).collect() })
    }

    /// Returns the treatment of a local or far endpoint with this kind, by the full name of its topic or service.
    #[must_use]
    pub fn treatment(&self, kind: Kind, name: &str) -> Treatment {
        let rules = || self.rules.iter().filter(|rule| rule.matches(kind, name));
        let rate = rules().find_map(|rule| rule.max_rate_hz);
        Treatment {
            is_allowed: rules().find_map(|rule| rule.allow).unwrap_or(true),
            min_period: rate.map_or(Duration::ZERO, |rate_hz| Duration::from_secs_f64(1.0 / rate_hz)),
            priority: rules().find_map(|rule| rule.priority).unwrap_or(DEFAULT_PRIORITY),
            is_express: rules().find_map(|rule| rule.express).unwrap_or(false),
        }
    }
}

impl Default for Policy {
    /// Returns the default policy: all names are carried, stop commands first and logs last.
    fn default() -> Policy {
        let rules = File::parse(DEFAULTS).map(|file| file.rules).unwrap_or_default();
        Policy { rules }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stops_come_first_and_logs_last_by_default() {
        let policy = Policy::default();
        let of = |name| policy.treatment(Kind::Publisher, name);
        let stop = of("/arm/_action/cancel_goal");
        assert_eq!((stop.priority, stop.is_express, stop.is_allowed), (1, true, true));
        assert_eq!(of("/emergency_stop").priority, 1);
        assert_eq!(of("/robot/e_stop").priority, 1);
        assert_eq!((of("/rosout").priority, of("/rosout").min_period), (7, Duration::from_millis(5)));
        let other = Treatment { is_allowed: true, min_period: Duration::ZERO, priority: 5, is_express: false };
        assert_eq!(of("/scan"), other);
    }

    #[test]
    fn the_first_rule_with_a_field_decides_the_field() {
        let text = r#"{ "rules": [
            { "names": ["/camera/front"], "allow": true, "priority": 6 },
            { "names": ["/camera/**"], "allow": false },
            { "names": ["/scan"], "kinds": ["publisher"], "max_rate_hz": 10, "priority": 2 },
            { "names": ["/rosout"], "max_rate_hz": 1 }
        ] }"#;
        let policy = Policy::from_text(text).unwrap();
        let of = |name| policy.treatment(Kind::Publisher, name);
        assert!(of("/camera/front").is_allowed && !of("/camera/rear/raw").is_allowed);
        assert_eq!(of("/camera/front").priority, 6);
        assert_eq!((of("/scan").min_period, of("/scan").priority), (Duration::from_millis(100), 2));
        assert_eq!(policy.treatment(Kind::Server, "/scan").priority, 5);
        assert_eq!((of("/rosout").min_period, of("/rosout").priority), (Duration::from_secs(1), 7));
    }

    #[test]
    fn a_wrong_policy_is_a_sentence() {
        for (text, part) in [
            ("", "EOF"),
            (r#"{ "rule": [] }"#, "rule"),
            (r#"{ "rules": [{ "names": [], "allow": true }] }"#, "names"),
            (r#"{ "rules": [{ "names": ["/a"], "priority": 8 }] }"#, "priority 8"),
            (r#"{ "rules": [{ "names": ["/a"], "max_rate_hz": 0 }] }"#, "max_rate_hz 0"),
            (r#"{ "rules": [{ "names": ["/a"], "kinds": ["topic"] }] }"#, "topic"),
        ] {
            let why = Policy::from_text(text).unwrap_err();
            assert!(why.contains(part), "{text}: {why}");
        }
    }
}
