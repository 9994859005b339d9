//! Endpoints of a run: publishers, subscriptions and relays, and the topic of each.

use serde::{Deserialize, Serialize};

/// A publisher, a subscription or a relay of a run, by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Endpoint {
    /// A publisher.
    Publisher(u32),
    /// A subscription.
    Subscription(u32),
    /// A relay: a subscription to the one topic and a publisher of the other.
    Relay(u32),
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Endpoint::Publisher(index) => write!(f, "publisher {index}"),
            Endpoint::Subscription(index) => write!(f, "subscription {index}"),
            Endpoint::Relay(index) => write!(f, "relay {index}"),
        }
    }
}

/// The publisher of a message: its id in the middleware, and its phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourcePhase {
    /// The id that its messages have.
    pub source: [u8; 16],
    /// [`EndpointPlan::phase_ns`].
    pub phase_ns: i64,
}

/// The plan of one endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndpointPlan {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// The full name of its topic, as `/perf_test_1f00…/test_topic`; a relay's is the one that it takes from.
    pub topic: String,
    /// The topic to which a relay sends; empty otherwise.
    pub relay_topic: String,
    /// Its index among the endpoints of the run, publishers first, which selects its CPU of `--pin`.
    pub index: u32,
    /// The due time of a publisher's first message after the start of the run, nanoseconds; 0 for others.
    pub phase_ns: i64,
}
