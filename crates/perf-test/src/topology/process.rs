//! The nodes of a topology after parsing: full names, periods in nanoseconds, messages with their sizes.
//!
//! Invariants: all endpoints of a topic have one message type, and all endpoints of a service have one service
//! type. The publishers and subscriptions of a topic have compatible QoS.

use serde::{Serialize, Serializer};

use perf_worker::{
    choice::Choice,
    pacing::Pace,
    run_spec::{MessageSpec, PassBy, Qos},
};

/// The nodes of one process, read from one file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Process {
    /// The name of the file without its folder and its extension.
    pub name: String,
    /// The nodes of the process in the order of the file; there is at least one.
    pub nodes: Vec<Node>,
    /// The chains of topics that the file declares. A chain may pass through nodes of other files of the topology.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub chains: Vec<Chain>,
}

/// A chain of topics: from its first messages, through publishers that they trigger, to its last topic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Chain {
    /// The name of the chain.
    pub name: String,
    /// The full names of the topics with which the chain begins.
    pub from: Vec<String>,
    /// The full name of the last topic: the chain ends when a subscription receives its message.
    pub to: String,
    /// The path of the chain in the file, for errors.
    #[serde(skip)]
    pub place: String,
}

/// One node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Node {
    /// The full name of the node, in the form `/namespace/name`.
    pub name: String,
    /// The number of the node's executor. Nodes of a process with equal numbers share an executor.
    pub executor: u32,
    /// The publishers of the node.
    pub publishers: Vec<Publisher>,
    /// The subscriptions of the node.
    pub subscriptions: Vec<Subscription>,
    /// The clients of the node.
    pub clients: Vec<Client>,
    /// The servers of the node.
    pub servers: Vec<Server>,
}

/// The messages that an endpoint sends or receives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Payload {
    /// The type, the layout and the full size of the message.
    pub message: MessageSpec,
    /// The size of the payload in bytes, without the message's header and encoding.
    pub payload_bytes: u64,
}

/// A publisher.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Publisher {
    /// The full name of the publisher's topic.
    pub topic: String,
    /// The messages of the publisher.
    pub payload: Payload,
    /// The event that makes the publisher publish.
    pub trigger: Trigger,
    /// The CPU time that the node uses before each message, µs.
    #[serde(skip_serializing_if = "is_zero")]
    pub work_us: u32,
    /// The number of messages per second: the rate of the timer, or of the slowest topic among the triggers; 0 if
    /// that topic has no publisher.
    pub rate_hz: f64,
    /// The way in which the publisher hands messages over.
    #[serde(serialize_with = "pass_by")]
    pub pass_by: PassBy,
    /// The QoS of the publisher.
    pub qos: NodeQos,
    /// The path of the publisher in the file, for errors.
    #[serde(skip)]
    pub place: String,
}

/// The event that makes a publisher publish.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// A timer expires, with this pace.
    Timer(Pace),
    /// A message of each of these topics (full names) has arrived since the publisher's last publication. The
    /// publisher's node subscribes to all of them.
    Topics(Vec<String>),
}

/// A subscription.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Subscription {
    /// The full name of the subscription's topic.
    pub topic: String,
    /// The messages that the subscription receives; if the topic has several publishers, the
    /// largest of their messages.
    pub payload: Payload,
    /// The CPU time that the callback uses for each message, µs.
    #[serde(skip_serializing_if = "is_zero")]
    pub work_us: u32,
    /// The way in which the callback receives messages.
    #[serde(serialize_with = "pass_by")]
    pub pass_by: PassBy,
    /// The QoS of the subscription.
    pub qos: NodeQos,
    /// The path of the subscription in the file, for errors.
    #[serde(skip)]
    pub place: String,
}

/// A client.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Client {
    /// The full name of the service that the client calls.
    pub service: String,
    /// The requests and the responses.
    pub payload: Payload,
    /// The pace at which the client sends requests.
    pub pace: Pace,
    /// The QoS of the client.
    pub qos: NodeQos,
    /// The path of the client in the file, for errors.
    #[serde(skip)]
    pub place: String,
}

/// A server.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Server {
    /// The full name of the service that the server offers.
    pub service: String,
    /// The requests and the responses.
    pub payload: Payload,
    /// The CPU time that the server uses for each request, µs.
    #[serde(skip_serializing_if = "is_zero")]
    pub work_us: u32,
    /// The QoS of the server.
    pub qos: NodeQos,
    /// The path of the server in the file, for errors.
    #[serde(skip)]
    pub place: String,
}

/// The QoS of an endpoint of a node. Deadline and lifespan have no limit, and the liveliness lease never expires.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct NodeQos {
    /// Reliability, durability, history and depth.
    #[serde(flatten)]
    pub qos: Qos,
    /// The liveliness policy, which matters only for matching.
    pub liveliness: Liveliness,
}

/// The QoS policy of liveliness. The first variant is the weaker one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Liveliness {
    /// The middleware asserts the liveliness.
    Automatic,
    /// The publisher asserts its own liveliness.
    ManualByTopic,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(value: &u32) -> bool {
    *value == 0
}

/// Serialises a way of handing messages over as the name that topology files use for it.
fn pass_by<S: Serializer>(pass_by: &PassBy, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(pass_by.name())
}
