//! What can go wrong, as sentences with the values in them and what to do next.

/// Largest domain: ROS 2's on Linux.
pub const MAX_DOMAIN_ID: u32 = 232;

/// An error of the library.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The engine's: memory, permissions, other processes.
    #[error(transparent)]
    Engine(#[from] gantry_shm::Error),

    /// A name that ROS 2 does not allow.
    #[error("{kind} name \"{name}\" is not allowed: {why}")]
    InvalidName {
        /// "topic", "service", "node" or "namespace".
        kind: &'static str,
        /// What was given.
        name: String,
        /// Which rule it breaks.
        why: &'static str,
    },

    /// A remapping rule, or another argument for ROS, that is not understood.
    #[error("the ROS argument \"{argument}\" cannot be used: {why}")]
    InvalidRosArgument {
        /// The rule or argument.
        argument: String,
        /// Why not, and what can be.
        why: String,
    },

    /// A domain that ROS 2 does not know.
    #[error("{origin} is \"{value}\"; a domain is a whole number from 0 to {max}", max = MAX_DOMAIN_ID)]
    InvalidDomain {
        /// Where the value came from.
        origin: &'static str,
        /// What was given.
        value: String,
    },

    /// A timer without a period.
    #[error("a timer's period is 0, so it would be due for ever; give it at least 1 ns")]
    ZeroPeriod,

    /// An executor that has nothing to do.
    #[error("this executor has no node; add one before it spins")]
    NoNode,

    /// A node whose callbacks another executor runs.
    #[error("node {node} is in an executor already; remove it there first, or make a node of its own")]
    NodeInUse {
        /// The node's full name.
        node: String,
    },

    /// Nodes of several domains in one executor.
    #[error(
        "node {node} is in domain {domain_id}, and this executor works in domain {executors}; use an executor for each domain"
    )]
    ForeignNode {
        /// The node's full name.
        node: String,
        /// Its domain.
        domain_id: u32,
        /// The executor's.
        executors: u32,
    },

    /// A sample that is no message of the type.
    #[error("a sample on {topic} is no {type_name}: {error}; it was passed over")]
    Malformed {
        /// The subscription's topic.
        topic: String,
        /// The type that was expected.
        type_name: &'static str,
        /// What is wrong, with the field and the offset.
        error: gantry_cdr::Error,
    },

    /// Nobody would get a request.
    #[error("nobody serves {service} as {type_name}{why}; start its server, or wait with wait_for_service")]
    NoServer {
        /// The service.
        service: String,
        /// Its type.
        type_name: &'static str,
        /// Why who is there does not count; empty if nobody is there.
        why: String,
    },

    /// All servers that a request went to ended.
    #[error(
        "request {sequence} to {service} will not be answered: the {servers} server(s) that had it ended; wait for the service, \
         and ask again"
    )]
    ServerGone {
        /// The service.
        service: String,
        /// Which request of this client.
        sequence: u64,
        /// How many servers there were when it was sent.
        servers: usize,
    },

    /// Responses were overwritten before the client took them, and a request's may have been among them.
    #[error(
        "the response to request {sequence} to {service} is lost: {overwritten} responses were overwritten before this client \
         took them; take responses sooner, or ask for less at a time"
    )]
    ResponseLost {
        /// The service.
        service: String,
        /// Which request of this client.
        sequence: u64,
        /// How many responses, to this client or others, it lost so far.
        overwritten: u64,
    },

    /// A request was not answered in time.
    #[error(
        "request {sequence} to {service} was not answered within {waited_ms} ms; {progress}; allow more time, or find out what \
         the server does"
    )]
    CallTimeout {
        /// The service.
        service: String,
        /// Which request of this client.
        sequence: u64,
        /// How long the call waited.
        waited_ms: u64,
        /// Who has taken the request.
        progress: String,
    },

    /// A message that cannot be put into bytes.
    #[error("a {type_name} for {topic} cannot be built: {error}")]
    CannotBuild {
        /// The publisher's topic.
        topic: String,
        /// The message's type.
        type_name: &'static str,
        /// What is wrong, with the field.
        error: gantry_cdr::Error,
    },
}

/// A result of the library.
pub type Result<T> = std::result::Result<T, Error>;
