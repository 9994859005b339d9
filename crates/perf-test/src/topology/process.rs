//! The nodes of a topology after parsing, with full names, periods in nanoseconds, and messages with their sizes.
//!
//! Invariants: all endpoints of a topic have the same message type, and all endpoints of a service have the same
//! service type. The publishers and subscriptions of a topic have compatible QoS.

use serde::{Serialize, Serializer};

use perf_worker::{
    choice::Choice,
    pacing::Pace,
    run_spec::{MessageSpec, PassBy, Qos},
};

/// The nodes of one process, read from one file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Process {
    /// The name of the file without folder and extension.
    pub name: String,
    /// The nodes of the process, in the order of the file; at least one.
    pub nodes: Vec<Node>,
    /// The chains that the file declares. A chain may pass through nodes of other files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub chains: Vec<Chain>,
}

/// A chain: a path of messages from its first topics, through publishers that messages trigger, to its last topic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Chain {
    /// The name of the chain.
    pub name: String,
    /// The full names of the first topics.
    pub from: Vec<String>,
    /// The full name of the last topic. The chain ends when a subscription to this topic receives a message.
    pub to: String,
    /// The path of the chain's JSON value in the file, for errors.
    #[serde(skip)]
    pub place: String,
}

/// A node with its endpoints.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Node {
    /// The full name of the node, in the form `/namespace/name`.
    pub name: String,
    /// The number of the node's executor. Nodes of one process with the same number share an executor.
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

/// The type and size of the messages that an endpoint sends or receives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Payload {
    /// The type, the layout and the full size of the message.
    pub message: MessageSpec,
    /// The size of the payload in bytes, without the message's header and encoding.
    pub payload_bytes: u64,
}

/// A publisher of a node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Publisher {
    /// The full name of the publisher's topic.
    pub topic: String,
    /// The type and size of the messages.
    pub payload: Payload,
    /// The event that makes the publisher publish.
    pub trigger: Trigger,
    /// The CPU time that the callback uses before each message is published, µs.
    #[serde(skip_serializing_if = "is_zero")]
    pub work_us: u32,
    /// The number of messages per second: the rate of the timer, or of the slowest topic that triggers the publisher; 0
    /// if this topic has no publisher.
    pub rate_hz: f64,
    /// The kind of pointer in which the publisher passes messages.
    #[serde(serialize_with = "pass_by")]
    pub pass_by: PassBy,
    /// The QoS of the publisher.
    pub qos: NodeQos,
    /// The path of the publisher's JSON value in the file, for errors.
    #[serde(skip)]
    pub place: String,
}

/// The event that makes a publisher publish.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// A timer with this pace.
    Timer(Pace),
    /// The topics (full names) that trigger the publisher: it publishes when each of them has had a message since its
    /// last publication. The publisher's node subscribes to all of them.
    Topics(Vec<String>),
}

/// A subscription of a node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Subscription {
    /// The full name of the subscription's topic.
    pub topic: String,
    /// The type and size of the messages. If the publishers of the topic have different sizes, the largest one.
    pub payload: Payload,
    /// The CPU time that the callback uses for each message, µs.
    #[serde(skip_serializing_if = "is_zero")]
    pub work_us: u32,
    /// The kind of pointer in which the callback receives messages.
    #[serde(serialize_with = "pass_by")]
    pub pass_by: PassBy,
    /// The QoS of the subscription.
    pub qos: NodeQos,
    /// The path of the subscription's JSON value in the file, for errors.
    #[serde(skip)]
    pub place: String,
}

/// A client of a service.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Client {
    /// The full name of the service that the client calls.
    pub service: String,
    /// The type and size of the requests and of the responses.
    pub payload: Payload,
    /// The pace at which the client sends requests.
    pub pace: Pace,
    /// The QoS of the client.
    pub qos: NodeQos,
    /// The path of the client's JSON value in the file, for errors.
    #[serde(skip)]
    pub place: String,
}

/// A server of a service.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Server {
    /// The full name of the service that the server offers.
    pub service: String,
    /// The type and size of the requests and of the responses.
    pub payload: Payload,
    /// The CPU time that the server uses for each request, µs.
    #[serde(skip_serializing_if = "is_zero")]
    pub work_us: u32,
    /// The QoS of the server.
    pub qos: NodeQos,
    /// The path of the server's JSON value in the file, for errors.
    #[serde(skip)]
    pub place: String,
}

/// The QoS of an endpoint of a node. Deadline, lifespan and liveliness lease are unlimited.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct NodeQos {
    /// Reliability, durability, history and depth.
    #[serde(flatten)]
    pub qos: Qos,
    /// The liveliness policy. It has an effect only on matching.
    pub liveliness: Liveliness,
}

/// The liveliness policy. The order of the variants is from the weaker to the stronger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Liveliness {
    /// The middleware asserts the liveliness of publishers.
    Automatic,
    /// Each publisher must assert its liveliness itself.
    ManualByTopic,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(value: &u32) -> bool {
    *value == 0
}

/// Serialises the kind of pointer by its name in topology files.
fn pass_by<S: Serializer>(pass_by: &PassBy, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(pass_by.name())
}
