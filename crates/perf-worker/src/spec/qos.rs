//! Quality of service.

use serde::{Deserialize, Serialize};

use crate::choice::{Choice, choice};

choice! {
    /// The QoS policy of reliability.
    pub enum Reliability {
        /// All samples of the history are delivered.
        Reliable = "RELIABLE",
        /// Losses are allowed.
        BestEffort = "BEST_EFFORT",
    }
    default BestEffort
}

choice! {
    /// The QoS policy of durability.
    pub enum Durability {
        /// A late subscription gets the publisher's history.
        TransientLocal = "TRANSIENT_LOCAL",
        /// A late subscription gets new samples only.
        Volatile = "VOLATILE",
    }
    default Volatile
}

choice! {
    /// The QoS policy of the history.
    pub enum History {
        /// The newest samples, up to the depth.
        KeepLast = "KEEP_LAST",
        /// All samples.
        KeepAll = "KEEP_ALL",
    }
    default KeepLast
}

/// Quality of service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Qos {
    /// Whether samples may be lost.
    pub reliability: Reliability,
    /// Whether late subscriptions get earlier samples.
    pub durability: Durability,
    /// The samples that the history keeps.
    pub history: History,
    /// The number of samples that KEEP_LAST keeps.
    #[serde(rename = "history_depth")]
    pub depth: u32,
}

impl std::fmt::Display for Qos {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, {}, {}", self.reliability.name(), self.durability.name(), self.history.name())?;
        match self.history {
            History::KeepLast => write!(f, " {}", self.depth),
            History::KeepAll => Ok(()),
        }
    }
}
