//! Endpoints of a run: publishers, subscriptions and relays, and the topic of each.

use serde::{Deserialize, Serialize};

use crate::{
    pacing::Pace,
    run_spec::RunSpec,
    spec::{
        matching::OtherClock,
        message::MessageSpec,
        qos::Qos,
        ways::{PassBy, Roundtrip},
    },
};

/// The prefix of the full name of a topic that belongs to one run only. The id of the run and the topic as the user
/// gave it follow the prefix.
pub const PRIVATE_PREFIX: &str = "/perf_test_";

/// A publisher, a subscription or a relay of a run, by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Endpoint {
    /// A publisher.
    Publisher(u32),
    /// A subscription.
    Subscription(u32),
    /// A relay: it takes messages from one topic and publishes them on another, or it is the server of a service.
    Relay(u32),
}

impl Endpoint {
    /// The index of the endpoint among the endpoints of its kind.
    #[must_use]
    pub fn index(self) -> u32 {
        match self {
            Endpoint::Publisher(index) | Endpoint::Subscription(index) | Endpoint::Relay(index) => index,
        }
    }
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

/// The publisher of a message: its id in the middleware, the scheduled time of its first message (its phase), and its
/// clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The publisher's id in [`Taken::source`](crate::backend::Taken::source); zeros if the run has only one publisher
    /// and this publisher has no id.
    pub source: [u8; 16],
    /// [`EndpointPlan::phase_ns`].
    pub phase_ns: i64,
    /// The clock of the times in the publisher's messages; `None` if it is CLOCK_MONOTONIC.
    #[serde(default)]
    pub clock: Option<OtherClock>,
    /// The latencies above which messages of this publisher count as late and as too late, nanoseconds. `None` means
    /// the limits of the receiving endpoint.
    #[serde(default)]
    pub limits_ns: Option<(u64, u64)>,
}

/// The position of an endpoint in a chain: a sequence of topics whose latency is measured from the first topic to the
/// last one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainLink {
    /// The name of the chain.
    pub chain: String,
    /// The position at which messages carry the origin of the chain: the times at which the chain's first messages were
    /// sent. The position is an index of a 16-byte slot in the payload; slot 0 is at the beginning of the payload.
    /// Messages of the first topic carry no origin.
    pub slot: u32,
    /// Whether the chain begins with the messages of this endpoint's topic.
    pub begins: bool,
    /// Whether the chain ends when a subscription has received a message of this endpoint's topic.
    pub ends: bool,
}

/// The plan of one endpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndpointPlan {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// The full name of the endpoint's topic, for example `/perf_test_1f00…/test_topic`. A relay takes messages from
    /// this topic.
    pub topic: String,
    /// The topic to which a relay sends; empty otherwise.
    pub relay_topic: String,
    /// Whether the topic is a service. A publisher then sends requests, the subscription with the same `executor` takes
    /// the responses, and a relay is the server.
    pub service: bool,
    /// For a subscription that receives a client's responses: the publisher of the client's requests.
    #[serde(default)]
    pub answers: Option<Endpoint>,
    /// The number of publishers of this run whose messages reach this subscription or relay; 0 if the publishers belong
    /// to another program. For publishers of this run the receiver knows the schedule, and counts messages as lost from
    /// the first one.
    pub publishers: u32,
    /// Whether all endpoints of the topic belong to this run.
    pub private: bool,
    /// The full name of the endpoint's node, for example `/namespace/name`; empty if the middleware chooses the name.
    #[serde(default)]
    pub node: String,
    /// Whether the callbacks of the node loan messages or copy them. Only executors use this field.
    #[serde(default)]
    pub pass_by: PassBy,
    /// The index of the endpoint among all endpoints of the run, publishers first. The option `--pin` selects the
    /// endpoint's CPU by this index.
    pub index: u32,
    /// The number of the thread of this endpoint in its process. Endpoints with the same number share a thread: one
    /// publisher and any number of subscriptions, or both parts of a client. The thread serves the subscriptions after
    /// each message that it publishes, and while it waits for the next one. In a run with [`RunSpec::executor`] the
    /// endpoints share an executor instead.
    pub executor: u32,
    /// The messages of the topic.
    #[serde(flatten)]
    pub message: MessageSpec,
    /// The pace of this publisher, or of the publishers whose messages reach this subscription or relay.
    pub pace: Pace,
    /// The messages per second of a publisher, or of all publishers together whose messages reach a subscription or a
    /// relay; 0 if the rate is not known. A publisher without a timer has the rate of the messages that trigger it.
    #[serde(default)]
    pub rate_hz: f64,
    /// The scheduled time of a publisher's first message, nanoseconds after the start of the run. A subscription or a
    /// relay with exactly one publisher has the value of this publisher.
    pub phase_ns: i64,
    /// Quality of service.
    #[serde(flatten)]
    pub qos: Qos,
    /// The number of matched endpoints that this endpoint awaits before the start.
    pub expected: u32,
    /// The latency above which a message counts as late, nanoseconds. If the middleware tells publishers apart,
    /// [`Source::limits_ns`] may give each publisher its own limit.
    pub late_ns: u64,
    /// The latency above which a message counts as too late instead of late, nanoseconds.
    pub too_late_ns: u64,
    /// The simulated work for each message, nanoseconds of the clock. A subscription is busy for this time after it
    /// recorded the message and before it releases it. A relay or a server is busy before it passes the message on or
    /// answers it.
    ///
    /// In an executor the work is CPU time of the callback's thread, and a publisher is also busy before it publishes.
    pub work_ns: i64,
    /// The triggers of a publisher without a timer, in an executor: subscriptions of its node. The publisher publishes
    /// as soon as each trigger has received a message since the last publish.
    #[serde(default)]
    pub triggers: Vec<Endpoint>,
    /// The chains to which the endpoint belongs, in an executor.
    #[serde(default)]
    pub chains: Vec<ChainLink>,
}

impl std::fmt::Display for EndpointPlan {
    /// Formats an endpoint of a node as its topic and its node, and any other endpoint as its index.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.endpoint {
            endpoint if self.node.is_empty() => endpoint.fmt(f),
            Endpoint::Publisher(_) | Endpoint::Subscription(_) if self.service => {
                write!(f, "the client of {} in {}", self.given_topic(), self.node)
            }
            Endpoint::Publisher(_) => write!(f, "the publisher of {} in {}", self.given_topic(), self.node),
            Endpoint::Subscription(_) => write!(f, "the subscription to {} in {}", self.given_topic(), self.node),
            Endpoint::Relay(_) => write!(f, "the server of {} in {}", self.given_topic(), self.node),
        }
    }
}

impl EndpointPlan {
    /// The topic as the user gave it, without the id of the run.
    #[must_use]
    pub fn given_topic(&self) -> &str {
        let rest = self.topic.strip_prefix(PRIVATE_PREFIX).and_then(|rest| Some(&rest[rest.find('/')?..]));
        rest.unwrap_or(&self.topic)
    }

    /// Creates the plan of an endpoint with its own thread. Messages, pace and quality of service are those in `spec`.
    #[must_use]
    pub fn of_run(spec: &RunSpec, endpoint: Endpoint, topic: &str) -> EndpointPlan {
        let publishers = if matches!(endpoint, Endpoint::Publisher(_)) { 1 } else { spec.publishers };
        EndpointPlan {
            endpoint,
            topic: topic.to_owned(),
            relay_topic: String::new(),
            service: false,
            answers: None,
            publishers: spec.publishers,
            private: spec.is_private(),
            node: String::new(),
            pass_by: PassBy::default(),
            index: 0,
            executor: 0,
            message: spec.message.clone(),
            pace: spec.pace(),
            rate_hz: spec.pace().messages_per_s() * f64::from(publishers),
            phase_ns: 0,
            qos: spec.qos,
            expected: expected_by(spec, endpoint),
            late_ns: spec.late_above_ns.unwrap_or(u64::MAX),
            too_late_ns: spec.too_late_above_ns.unwrap_or(u64::MAX),
            work_ns: work_ns_of(spec, endpoint),
            triggers: Vec::new(),
            chains: Vec::new(),
        }
    }
}

/// The simulated work of an endpoint for each message, ns. In a round trip only the relay or the server is busy.
fn work_ns_of(spec: &RunSpec, endpoint: Endpoint) -> i64 {
    let works = match endpoint {
        Endpoint::Publisher(_) => false,
        Endpoint::Subscription(_) => spec.roundtrip == Roundtrip::None,
        Endpoint::Relay(_) => true,
    };
    if works { spec.work_ns } else { 0 }
}

/// The number of matched endpoints that an endpoint awaits before the start.
fn expected_by(spec: &RunSpec, endpoint: Endpoint) -> u32 {
    match endpoint {
        // The server is matched with all clients, and each client with the server.
        Endpoint::Relay(_) if spec.roundtrip == Roundtrip::Service => spec.publishers,
        // Each of the two topics of a round trip has one publisher and one subscription.
        Endpoint::Relay(_) => 1,
        _ if matches!(spec.roundtrip, Roundtrip::Both | Roundtrip::Service) => 1,
        Endpoint::Publisher(_) => spec.expected_subscriptions,
        Endpoint::Subscription(_) => spec.expected_publishers,
    }
}
