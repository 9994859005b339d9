//! Quality of service, field for field `rmw_qos_profile_t`.
//!
//! Used by `gantry` (which re-exports it), stored in every endpoint's description, compared when a
//! publisher and a subscription meet. Plain values; nothing here touches shared memory.

use crate::error::{Error, Result};
use std::time::Duration;

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
    /// The system does.
    Automatic,
    /// The publisher does, by publishing or by asserting it.
    ManualByTopic,
}

/// The quality of service that an endpoint offers or asks for.
///
/// `None` in a duration is `rmw`'s "unspecified": no limit.
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
    /// Longest expected time between two samples.
    pub deadline: Option<Duration>,
    /// How long a sample stays valid after it was published.
    pub lifespan: Option<Duration>,
    /// Who asserts that the publisher lives.
    pub liveliness: Liveliness,
    /// How long the publisher may stay silent about being alive.
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

    /// Refuses what makes no sense.
    pub(crate) fn check(&self) -> Result<()> {
        if self.history == History::KeepLast && !(1..=MAX_DEPTH).contains(&self.depth) {
            return Err(Error::OutOfRange {
                what: "the history depth",
                value: self.depth.to_string(),
                range: format!("KEEP_LAST keeps 1 to {MAX_DEPTH} samples"),
            });
        }
        Ok(())
    }

    /// The first policy on which a publisher that offers `self` cannot serve a subscription that
    /// asks for `requested`, in DDS's request-offered sense.
    #[must_use]
    pub fn incompatible_policy(&self, requested: &Qos) -> Option<&'static str> {
        if self.reliability == Reliability::BestEffort && requested.reliability == Reliability::Reliable {
            return Some("reliability (offered BEST_EFFORT, requested RELIABLE)");
        }
        if self.durability == Durability::Volatile && requested.durability == Durability::TransientLocal {
            return Some("durability (offered VOLATILE, requested TRANSIENT_LOCAL)");
        }
        None
    }
}
