//! Quality of service, with the same fields as `rmw_qos_profile_t`.
//!
//! The values are stored in every endpoint's description and compared when endpoints are matched; `gantry` re-exports
//! them.

use crate::error::{Error, Result};
use std::{fmt, time::Duration};

/// The largest depth of a history.
pub const MAX_DEPTH: u32 = 1_000_000;

/// The samples that an endpoint keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History {
    /// Keeps the newest `depth` samples: a publisher keeps its own samples, a subscription keeps the newest samples
    /// of all its publishers together.
    KeepLast,
    /// Keeps every sample, up to the publisher's memory limit.
    KeepAll,
}

/// Whether samples may be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reliability {
    /// Losses are allowed.
    BestEffort,
    /// All samples in the history are delivered.
    Reliable,
}

/// Whether a late subscription gets earlier samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// A late subscription gets only samples that are published after the match.
    Volatile,
    /// Late subscriptions also get the publisher's history, for as long as the publisher lives.
    TransientLocal,
}

/// The choice whether the system or the publisher asserts the publisher's liveliness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Liveliness {
    /// The system asserts liveliness: a publisher is alive as long as its process lives, whatever its lease
    /// duration is.
    Automatic,
    /// The publisher asserts its liveliness, by publishing or by an assertion within the lease duration.
    ManualByTopic,
}

/// The quality of service that an endpoint offers or requests.
///
/// `None` in a duration is `rmw`'s "unspecified": no limit. A publisher and a subscription match if the publisher
/// offers at least the quality that the subscription requests: [`Qos::incompatible_policy`].
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Qos {
    /// The samples that are kept.
    pub history: History,
    /// The number of samples that `KeepLast` keeps, at least 1. Ignored by `KeepAll`.
    pub depth: u32,
    /// Whether losses are allowed.
    pub reliability: Reliability,
    /// Whether late subscriptions get the history.
    pub durability: Durability,
    /// The longest time between two samples: a publisher offers it, a subscription requests it.
    pub deadline: Option<Duration>,
    /// The time after publishing within which a sample is delivered. Set by the publisher; ignored in a subscription.
    pub lifespan: Option<Duration>,
    /// Whether the system or the publisher asserts the publisher's liveliness.
    pub liveliness: Liveliness,
    /// The longest time between two assertions of a publisher that asserts its own liveliness.
    pub liveliness_lease_duration: Option<Duration>,
    /// Uses the topic name as it is given: it is neither expanded nor remapped, and ROS 2's rules for names do not
    /// apply.
    pub avoid_ros_namespace_conventions: bool,
}

impl Default for Qos {
    /// `rmw_qos_profile_default`: reliable, volatile, the last 10 samples.
    fn default() -> Self {
        Qos {
            history: History::KeepLast,
            depth: 10,
            reliability: Reliability::Reliable,
            durability: Durability::Volatile,
            deadline: None,
            lifespan: None,
            liveliness: Liveliness::Automatic,
            liveliness_lease_duration: None,
            avoid_ros_namespace_conventions: false,
        }
    }
}

impl Qos {
    /// Keeps the newest `depth` samples.
    pub fn keep_last(self, depth: u32) -> Self {
        Qos { history: History::KeepLast, depth, ..self }
    }

    /// Keeps every sample, up to the publisher's memory limit.
    pub fn keep_all(self) -> Self {
        Qos { history: History::KeepAll, ..self }
    }

    /// Delivers all samples in the history.
    pub fn reliable(self) -> Self {
        Qos { reliability: Reliability::Reliable, ..self }
    }

    /// Allows losses.
    pub fn best_effort(self) -> Self {
        Qos { reliability: Reliability::BestEffort, ..self }
    }

    /// Gives late subscriptions the publisher's history.
    pub fn transient_local(self) -> Self {
        Qos { durability: Durability::TransientLocal, ..self }
    }

    /// Gives subscriptions only samples that are published after the match.
    pub fn volatile(self) -> Self {
        Qos { durability: Durability::Volatile, ..self }
    }

    /// Offers or requests a sample within this time after the previous sample.
    pub fn deadline(self, deadline: Duration) -> Self {
        Qos { deadline: Some(deadline), ..self }
    }

    /// Lets samples expire this time after they were published.
    pub fn lifespan(self, lifespan: Duration) -> Self {
        Qos { lifespan: Some(lifespan), ..self }
    }

    /// Chooses whether the system or the publisher asserts the publisher's liveliness.
    pub fn liveliness(self, liveliness: Liveliness) -> Self {
        Qos { liveliness, ..self }
    }

    /// Limits the time between two assertions of the publisher's liveliness.
    pub fn liveliness_lease_duration(self, lease_duration: Duration) -> Self {
        Qos { liveliness_lease_duration: Some(lease_duration), ..self }
    }

    /// Whether the publisher must assert its liveliness within a lease duration.
    #[must_use]
    pub fn has_manual_lease(&self) -> bool {
        self.liveliness == Liveliness::ManualByTopic && self.liveliness_lease_duration.is_some()
    }

    /// Refuses values that are out of range.
    pub(crate) fn check(&self) -> Result<()> {
        if self.history == History::KeepLast && !(1..=MAX_DEPTH).contains(&self.depth) {
            let range = format!("KEEP_LAST keeps 1 to {MAX_DEPTH} samples");
            return Err(Error::out_of_range("the history depth", self.depth, range));
        }
        let durations = [
            ("the deadline", self.deadline),
            ("the lifespan", self.lifespan),
            ("the liveliness lease duration", self.liveliness_lease_duration),
        ];
        match durations.into_iter().find(|(_, duration)| *duration == Some(Duration::ZERO)) {
            Some((what, _)) => Err(Error::out_of_range(what, "0 ns", "it is at least 1 ns, or None for no limit")),
            None => Ok(()),
        }
    }
}

/// Converts a duration to ns for a description. `None`, and durations that do not fit into 64 bits, mean no limit.
pub(crate) fn limit_ns(duration: Option<Duration>) -> u64 {
    duration.map_or(u64::MAX, |duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}

/// Implements `Display` with each value's name in DDS.
macro_rules! display_names {
    ($($policy:ident { $($value:ident => $name:literal,)* })*) => {$(
        impl fmt::Display for $policy {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $($policy::$value => $name,)* })
            }
        }
    )*};
}

display_names! {
    Reliability { BestEffort => "BEST_EFFORT", Reliable => "RELIABLE", }
    Durability { Volatile => "VOLATILE", TransientLocal => "TRANSIENT_LOCAL", }
    Liveliness { Automatic => "AUTOMATIC", ManualByTopic => "MANUAL_BY_TOPIC", }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_of_zero_are_refused_by_name() {
        let any = Qos::default();
        for (qos, what) in [
            (any.deadline(Duration::ZERO), "the deadline"),
            (any.lifespan(Duration::ZERO), "the lifespan"),
            (any.liveliness_lease_duration(Duration::ZERO), "the liveliness lease duration"),
        ] {
            let sentence = qos.check().unwrap_err().to_string();
            assert!(sentence.starts_with(what) && sentence.contains("at least 1 ns"), "{sentence}");
        }
    }
}
