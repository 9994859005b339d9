//! Quality of service, field for field `rmw_qos_profile_t`.
//!
//! Used by `gantry` (which re-exports it), stored in every endpoint's description, compared when a
//! publisher and a subscription meet. Plain values; nothing here touches shared memory.

use crate::error::{Error, Result};
use std::{fmt, time::Duration};

/// Largest depth that can be asked for.
pub const MAX_DEPTH: u32 = 1_000_000;

/// Which samples an endpoint keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History {
    /// The newest `depth` samples of each publisher.
    KeepLast,
    /// Every sample, up to the publisher's own cap.
    KeepAll,
}

/// Whether a sample may be given up on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reliability {
    /// Losses are allowed.
    BestEffort,
    /// What the history holds is delivered.
    Reliable,
}

/// Whether a subscription that comes late gets what was published before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Only what is published after the two have met.
    Volatile,
    /// The publisher's history, for as long as the publisher lives.
    TransientLocal,
}

/// Who says that a publisher is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Liveliness {
    /// The system does: it is alive as long as its process, whatever the lease duration.
    Automatic,
    /// The publisher does, by publishing or by asserting it, within the lease duration.
    ManualByTopic,
}

/// The quality of service that an endpoint offers or asks for.
///
/// `None` in a duration is `rmw`'s "unspecified": no limit. A publisher and a subscription meet if the publisher offers at least
/// what the subscription asks for: [`Qos::incompatible_policy`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Qos {
    /// Which samples are kept.
    pub history: History,
    /// How many samples `KeepLast` keeps; at least 1. Ignored by `KeepAll`.
    pub depth: u32,
    /// Whether losses are allowed.
    pub reliability: Reliability,
    /// Whether late subscriptions get the history.
    pub durability: Durability,
    /// Longest expected time between two samples. Of a publisher, what it promises; of a subscription, what it asks for.
    pub deadline: Option<Duration>,
    /// How long a sample stays valid after it was published: later it is not delivered. Of a publisher; that of a subscription
    /// means nothing.
    pub lifespan: Option<Duration>,
    /// Who asserts that the publisher lives.
    pub liveliness: Liveliness,
    /// How long the publisher may stay silent about being alive, if it is to say so itself.
    pub liveliness_lease_duration: Option<Duration>,
    /// Take the topic name as it is, without ROS 2's prefixes.
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
    #[must_use]
    pub fn keep_last(self, depth: u32) -> Self {
        Qos { history: History::KeepLast, depth, ..self }
    }

    /// Keeps every sample, up to the publisher's cap.
    #[must_use]
    pub fn keep_all(self) -> Self {
        Qos { history: History::KeepAll, ..self }
    }

    /// Delivers what the history holds.
    #[must_use]
    pub fn reliable(self) -> Self {
        Qos { reliability: Reliability::Reliable, ..self }
    }

    /// Allows losses.
    #[must_use]
    pub fn best_effort(self) -> Self {
        Qos { reliability: Reliability::BestEffort, ..self }
    }

    /// Gives late subscriptions the publisher's history.
    #[must_use]
    pub fn transient_local(self) -> Self {
        Qos { durability: Durability::TransientLocal, ..self }
    }

    /// Gives subscriptions only what is published after the two have met.
    #[must_use]
    pub fn volatile(self) -> Self {
        Qos { durability: Durability::Volatile, ..self }
    }

    /// Promises, or asks for, a sample at least so often.
    #[must_use]
    pub fn deadline(self, deadline: Duration) -> Self {
        Qos { deadline: Some(deadline), ..self }
    }

    /// Lets samples expire so long after they were published.
    #[must_use]
    pub fn lifespan(self, lifespan: Duration) -> Self {
        Qos { lifespan: Some(lifespan), ..self }
    }

    /// Chooses who says that the publisher is alive.
    #[must_use]
    pub fn liveliness(self, liveliness: Liveliness) -> Self {
        Qos { liveliness, ..self }
    }

    /// Limits how long the publisher may stay silent about being alive.
    #[must_use]
    pub fn liveliness_lease_duration(self, lease_duration: Duration) -> Self {
        Qos { liveliness_lease_duration: Some(lease_duration), ..self }
    }

    /// Whether the publisher has to say by itself, and within some time, that it is alive.
    pub(crate) fn has_manual_lease(&self) -> bool {
        self.liveliness == Liveliness::ManualByTopic && self.liveliness_lease_duration.is_some()
    }

    /// Refuses what makes no sense.
    pub(crate) fn check(&self) -> Result<()> {
        if self.history == History::KeepLast && !(1..=MAX_DEPTH).contains(&self.depth) {
            return Err(Error::OutOfRange {
                what: "the history depth",
                value: self.depth.to_string(),
                range: format!("KEEP_LAST keeps 1 to {MAX_DEPTH} samples"),
            });
        }
        let durations = [
            ("the deadline", self.deadline),
            ("the lifespan", self.lifespan),
            ("the liveliness lease duration", self.liveliness_lease_duration),
        ];
        match durations.into_iter().find(|(_, duration)| *duration == Some(Duration::ZERO)) {
            Some((what, _)) => Err(Error::OutOfRange {
                what,
                value: "0 ns".to_owned(),
                range: "it is at least 1 ns, or None for no limit".to_owned(),
            }),
            None => Ok(()),
        }
    }
}

/// A duration as it stands in descriptions: what does not fit, and `None`, is no limit.
pub(crate) fn limit_ns(duration: Option<Duration>) -> u64 {
    duration.map_or(u64::MAX, |duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}

impl fmt::Display for Reliability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reliability::BestEffort => "BEST_EFFORT",
            Reliability::Reliable => "RELIABLE",
        })
    }
}

impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Durability::Volatile => "VOLATILE",
            Durability::TransientLocal => "TRANSIENT_LOCAL",
        })
    }
}

impl fmt::Display for Liveliness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Liveliness::Automatic => "AUTOMATIC",
            Liveliness::ManualByTopic => "MANUAL_BY_TOPIC",
        })
    }
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
