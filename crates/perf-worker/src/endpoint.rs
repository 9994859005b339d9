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

/// The prefix of the full name of a topic that belongs to one run only. After the prefix come the id of the run
/// and the given topic.
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

/// The publisher of a message: its id in the middleware, its phase (the due time of its first message) and its clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The id in the publisher's messages; zeros if the only publisher of a run has no id.
    pub source: [u8; 16],
    /// [`EndpointPlan::phase_ns`].
    pub phase_ns: i64,
    /// The clock of the times in the publisher's messages; `None` if it is CLOCK_MONOTONIC.
    #[serde(default)]
    pub clock: Option<OtherClock>,
    /// The latencies above which the publisher's messages are late and too late, nanoseconds. Without them the limits
    /// of the receiving endpoint apply.
    #[serde(default)]
    pub limits_ns: Option<(u64, u64)>,
}

/// The part of an endpoint in a chain of topics, whose latency is measured from its first topic to its last one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainLink {
    /// The name of the chain.
    pub chain: String,
    /// The index of the origin among the 16-byte slots of the payload, in messages after the first topic of the
    /// chain. The origin contains the times at which the first messages of the chain were sent. Slot 0 is at the
    /// beginning of the payload.
    pub slot: u32,
    /// The chain begins with the messages of the topic.
    pub begins: bool,
    /// The chain ends when a subscription has received a message of the topic.
    pub ends: bool,
}

/// The plan of one endpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndpointPlan {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// The full name of the endpoint's topic, as `/perf_test_1f00…/test_topic`; for a relay, the topic that the
    /// relay takes from.
    pub topic: String,
    /// The topic to which a relay sends; empty otherwise.
    pub relay_topic: String,
    /// The topic is a service: a publisher sends its requests, the subscription of the same executor takes their
    /// responses, and a relay serves it.
    pub service: bool,
    /// The publisher of a client's requests, in the plan of the subscription that receives the responses.
    #[serde(default)]
    pub answers: Option<Endpoint>,
    /// The number of publishers of this run whose messages reach a subscription or a relay; 0 if the publishers
    /// belong to another program. If they belong to this run, their schedule is known and their first messages
    /// are received.
    pub publishers: u32,
    /// All endpoints of the topic belong to this run.
    pub private: bool,
    /// The full name of the endpoint's node, as `/namespace/name`; if the name is empty, the middleware chooses one.
    #[serde(default)]
    pub node: String,
    /// The way in which the callback of a node hands over messages. Only executors use it.
    #[serde(default)]
    pub pass_by: PassBy,
    /// The index of the endpoint among all endpoints of the run, publishers first. The index selects the endpoint's
    /// CPU of `--pin`.
    pub index: u32,
    /// Endpoints of a process with the same number share a thread: a client, or one publisher and any number of
    /// subscriptions. The thread turns to the subscriptions after each message and while no message is due. In a run
    /// with [`RunSpec::executor`] the endpoints share an executor.
    pub executor: u32,
    /// The messages.
    #[serde(flatten)]
    pub message: MessageSpec,
    /// The pace of a publisher, and of the publishers from which a subscription or a relay receives.
    pub pace: Pace,
    /// Messages per second of a publisher, or of all publishers together from which a subscription or a relay receives.
    /// A publisher without a timer has the rate of the messages that trigger it. 0 if the rate is not known.
    #[serde(default)]
    pub rate_hz: f64,
    /// The due time of a publisher's first message, nanoseconds after the start of the run. The plan of a subscription
    /// or a relay that has exactly one publisher has the phase of this publisher.
    pub phase_ns: i64,
    /// Quality of service.
    #[serde(flatten)]
    pub qos: Qos,
    /// The number of matched endpoints for which the endpoint waits before the start.
    pub expected: u32,
    /// The latency above which a sample is late, nanoseconds. If the middleware distinguishes publishers, each
    /// publisher has a limit of its own ([`Source::limits_ns`]).
    pub late_ns: u64,
    /// The latency above which a sample counts as too late, and no longer as late, nanoseconds.
    pub too_late_ns: u64,
    /// The time by the clock for which a subscription is busy with each message after it recorded the message,
    /// nanoseconds; the message is not released meanwhile. A relay or a server is busy before it passes the
    /// message on or answers it.
    ///
    /// In an executor this is CPU time of the callback's thread, and a publisher, too, is busy before it publishes.
    pub work_ns: i64,
    /// The triggers of a publisher without a timer, in an executor: subscriptions of its node. The publisher publishes
    /// when each of them has received a message since the last publish.
    #[serde(default)]
    pub triggers: Vec<Endpoint>,
    /// The chains of which the endpoint is a part, in an executor.
    #[serde(default)]
    pub chains: Vec<ChainLink>,
}

impl std::fmt::Display for EndpointPlan {
    /// Writes an endpoint of a node by its topic and its node, and any other endpoint by its index.
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
    /// The topic without the id of the run in its name.
    #[must_use]
    pub fn given_topic(&self) -> &str {
        let rest = self.topic.strip_prefix(PRIVATE_PREFIX).and_then(|rest| Some(&rest[rest.find('/')?..]));
        rest.unwrap_or(&self.topic)
    }

    /// Creates the plan of an endpoint that has the run's messages, pace and quality of service, and a
    /// thread of its own.
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

/// The busy time of an endpoint for each message, ns; on a round trip only the relay or the server is busy.
fn work_ns_of(spec: &RunSpec, endpoint: Endpoint) -> i64 {
    let works = match endpoint {
        Endpoint::Publisher(_) => false,
        Endpoint::Subscription(_) => spec.roundtrip == Roundtrip::None,
        Endpoint::Relay(_) => true,
    };
    if works { spec.work_ns } else { 0 }
}

/// The number of matched endpoints for which an endpoint waits before the start.
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
