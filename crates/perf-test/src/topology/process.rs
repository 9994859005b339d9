//! The nodes of a topology as they are run: full names, periods in nanoseconds, messages with their sizes.
//!
//! Invariants: all endpoints of a topic have one message type, and all endpoints of a service one service type.
//! Publishers and subscriptions of a topic have compatible QoS.

use serde::{Serialize, Serializer};

use perf_worker::{
    choice::Choice,
    pacing::Pace,
    run_spec::{MessageSpec, PassBy, Qos},
};

/// The nodes of one process, which one file has.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Process {
    /// The name of the file without folder and extension.
    pub name: String,
    /// Its nodes, in the order of the file; at least one.
    pub nodes: Vec<Node>,
    /// The chains of topics that the file names; they may go through all files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub chains: Vec<Chain>,
}

/// A chain of topics: from its first messages, over publishers that they trigger, to its last topic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Chain {
    /// Its name.
    pub name: String,
    /// The topics of its first messages, full names.
    pub from: Vec<String>,
    /// The topic with whose reception it ends, a full name.
    pub to: String,
    /// Its place in the file, for sentences.
    #[serde(skip)]
    pub place: String,
}

/// One node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Node {
    /// Its full name, as `/namespace/name`.
    pub name: String,
    /// The number of its executor: the nodes of a process with the same number share an executor.
    pub executor: u32,
    /// Its publishers.
    pub publishers: Vec<Publisher>,
    /// Its subscriptions.
    pub subscriptions: Vec<Subscription>,
    /// Its clients.
    pub clients: Vec<Client>,
    /// Its servers.
    pub servers: Vec<Server>,
}

/// The messages of an endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Payload {
    /// Type, layout and true size.
    pub message: MessageSpec,
    /// The size of the payload alone, without the header and the encoding, bytes.
    pub payload_bytes: u64,
}

/// A publisher.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Publisher {
    /// The full name of its topic.
    pub topic: String,
    /// Its messages.
    pub payload: Payload,
    /// The event on which it publishes.
    pub trigger: Trigger,
    /// CPU time that its node uses before each message, µs.
    #[serde(skip_serializing_if = "is_zero")]
    pub work_us: u32,
    /// Messages per second: of its timer, or of the slowest topic that triggers it; 0 if that has no publisher.
    pub rate_hz: f64,
    /// The way in which it hands messages over.
    #[serde(serialize_with = "pass_by")]
    pub pass_by: PassBy,
    /// Its QoS.
    pub qos: NodeQos,
    /// Its place in the file, for sentences.
    #[serde(skip)]
    pub place: String,
}

/// The event on which a publisher publishes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// A timer.
    Timer(Pace),
    /// The publisher publishes when a message of each of these topics (full names) has come since its last publish. Its
    /// node subscribes to them.
    Topics(Vec<String>),
}

/// A subscription.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Subscription {
    /// The full name of its topic.
    pub topic: String,
    /// The messages; the largest of its publishers.
    pub payload: Payload,
    /// CPU time that its callback uses for each message, µs.
    #[serde(skip_serializing_if = "is_zero")]
    pub work_us: u32,
    /// The way in which its callback gets messages.
    #[serde(serialize_with = "pass_by")]
    pub pass_by: PassBy,
    /// Its QoS.
    pub qos: NodeQos,
    /// Its place in the file, for sentences.
    #[serde(skip)]
    pub place: String,
}

/// A client.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Client {
    /// The full name of its service.
    pub service: String,
    /// Its requests and responses.
    pub payload: Payload,
    /// The pace of its requests.
    pub pace: Pace,
    /// Its QoS.
    pub qos: NodeQos,
    /// Its place in the file, for sentences.
    #[serde(skip)]
    pub place: String,
}

/// A server.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Server {
    /// The full name of its service.
    pub service: String,
    /// Its requests and responses.
    pub payload: Payload,
    /// CPU time that it uses for each request, µs.
    #[serde(skip_serializing_if = "is_zero")]
    pub work_us: u32,
    /// Its QoS.
    pub qos: NodeQos,
    /// Its place in the file, for sentences.
    #[serde(skip)]
    pub place: String,
}

/// The QoS of an endpoint of a node. Deadline and lifespan have no limit, and the lease of liveliness never ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct NodeQos {
    /// Reliability, durability, history and depth.
    #[serde(flatten)]
    pub qos: Qos,
    /// Liveliness, which decides about matching only.
    pub liveliness: Liveliness,
}

/// QoS policy of liveliness, the weaker one first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Liveliness {
    /// The middleware asserts it.
    Automatic,
    /// The publisher asserts it.
    ManualByTopic,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(value: &u32) -> bool {
    *value == 0
}

/// Writes a way by its name in files.
fn pass_by<S: Serializer>(pass_by: &PassBy, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(pass_by.name())
}
