//! The errors of this crate. Each error prints a sentence that contains the values and advice.

use crate::printable;

/// The largest domain id, as in ROS 2 on Linux.
pub const MAX_DOMAIN_ID: u32 = 232;

/// An error of the library.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the shared-memory engine (`gantry-shm`), for example about memory, permissions or other processes.
    #[error(transparent)]
    Engine(#[from] gantry_shm::Error),

    /// A name that ROS 2 does not allow.
    #[error("{kind} name \"{}\" is not allowed: {why}", printable(name, &[]))]
    InvalidName {
        /// "topic", "service", "node" or "namespace".
        kind: &'static str,
        /// The name that was given.
        name: String,
        /// The rule that it breaks.
        why: &'static str,
    },

    /// A remapping rule or another ROS argument that the library does not accept.
    #[error("the ROS argument \"{argument}\" cannot be used: {why}")]
    InvalidRosArgument {
        /// The rule or argument.
        argument: String,
        /// The reason, and the arguments that the library accepts.
        why: String,
    },

    /// A domain id that ROS 2 does not allow.
    #[error("{origin} is \"{value}\"; a domain is a whole number from 0 to {max}", max = MAX_DOMAIN_ID)]
    InvalidDomain {
        /// The source of the value: the name of the environment variable, or "the domain".
        origin: &'static str,
        /// The value that was given.
        value: String,
    },

    /// A second call of [`init`](crate::init) without a shutdown between the two calls.
    #[error("the program is initialised already; call gantry::init once, at the beginning of main")]
    AlreadyInitialized,

    /// The signal handlers could not be installed.
    #[error("SIGINT and SIGTERM cannot be caught: {why}; run without gantry::init, and end the program in another way")]
    Signals {
        /// The system's reason.
        why: String,
    },

    /// Values of parameters that cannot be parsed.
    #[error("the parameters of {origin} cannot be used: {why}")]
    InvalidParameters {
        /// The file or the ROS argument that contains the values.
        origin: String,
        /// The defect, with its line.
        why: String,
    },

    /// A parameter that is used before its declaration.
    #[error("parameter \"{name}\" is not declared; declare it first (declare_parameter)")]
    ParameterNotDeclared {
        /// Its name.
        name: String,
    },

    /// A second declaration of a parameter.
    #[error("parameter \"{name}\" is declared already; declare it once, and read it with get_parameter")]
    ParameterAlreadyDeclared {
        /// Its name.
        name: String,
    },

    /// A parameter that was declared without a value.
    #[error("parameter \"{name}\" has no value; set it, for example by --ros-args -p {name}:=VALUE")]
    ParameterNotSet {
        /// Its name.
        name: String,
    },

    /// A declaration or a change of a parameter that is not allowed, or a value whose type is not the requested one.
    #[error("parameter \"{name}\" is refused: {why}")]
    InvalidParameter {
        /// Its name.
        name: String,
        /// The rule that was broken, or the reason that a parameter callback gave.
        why: String,
    },

    /// A timer with a period of 0.
    #[error("the timer's period is 0, so the timer would always be due; give it at least 1 ns")]
    ZeroPeriod,

    /// A rate that is not finite, not above 0, or above 1e9 Hz.
    #[error("the rate is {rate_hz} Hz; it is above 0 and at most 1e9")]
    InvalidRate {
        /// The rate.
        rate_hz: f64,
    },

    /// An executor without a node.
    #[error("the executor has no node; add one before it spins")]
    NoNode,

    /// A node cannot be added to an executor, because another executor already runs its callbacks.
    #[error("node {node} is already in an executor; remove the node from that executor first, or create another node")]
    NodeInUse {
        /// The node's full name.
        node: String,
    },

    /// A callback group cannot be added to an executor, because another executor already runs its callbacks.
    #[error(
        "a callback group of node {node} is already in an executor, by itself or with its node; remove the group from \
         that executor first, or create the group with automatically_add_to_executor_with_node(false)"
    )]
    GroupInUse {
        /// The node's full name.
        node: String,
    },

    /// A node cannot be added through an executor handle, because the executor was dropped.
    #[error("node {node} cannot be added: the executor of this handle was dropped")]
    ExecutorGone {
        /// The node's full name.
        node: String,
    },

    /// The system refused the scheduling policy or the CPUs of a callback group's thread.
    #[error("the thread of a callback group of node {node} cannot have {property}: {why}")]
    GroupThread {
        /// The node's full name.
        node: String,
        /// The refused property: the scheduling policy with its priority, or the CPUs.
        property: String,
        /// The reason, and the privilege or setting that would permit the property.
        why: String,
    },

    /// A node that is not in the graph.
    #[error("there is no node {node} in domain {domain_id}; a full name begins with a slash, as /left/eye")]
    UnknownNode {
        /// The name that was given.
        node: String,
        /// The domain.
        domain_id: u32,
    },

    /// A node whose domain differs from the executor's domain.
    #[error(
        "node {node} is in domain {domain_id} and the executor is in domain {executors}; use one executor for each domain"
    )]
    ForeignNode {
        /// The node's full name.
        node: String,
        /// The node's domain.
        domain_id: u32,
        /// The executor's domain.
        executors: u32,
    },

    /// A sample whose bytes are not a message of the expected type.
    #[error("a sample of {publisher} on {topic} is not a valid {type_name}: {error}; the sample was skipped")]
    Malformed {
        /// The subscription's topic.
        topic: String,
        /// The node and the process of the sample's publisher.
        publisher: String,
        /// The type that was expected.
        type_name: &'static str,
        /// The defect of the message, with the field and the offset.
        error: gantry_cdr::Error,
    },

    /// A request for a service that no matching server offers.
    #[error("no server offers {service} as {type_name}{}", why_or_advice(why))]
    NoServer {
        /// The service.
        service: String,
        /// Its type.
        type_name: String,
        /// The reason why the existing servers do not match. Without such servers: a question with a similar service
        /// name, or empty.
        why: String,
    },

    /// A wait for a service timed out, because the service's server has another type than the client.
    #[error("{mismatch}; use one type, and build all programs with the same definition of it")]
    ServiceTypeMismatch {
        /// The two types, and what differs.
        mismatch: String,
    },

    /// A client that has reached its limit of requests in flight.
    #[error(
        "{pending} requests to {service} are in flight, which is the limit of this client (its QoS depth); take \
         responses or remove requests before sending more, or create the client with a larger depth"
    )]
    TooManyRequests {
        /// The service.
        service: String,
        /// The requests that are in flight.
        pending: usize,
    },

    /// All servers that received the request ended before they responded.
    #[error(
        "request {sequence} to {service} will not be answered: the {servers} server(s) that received the request \
         ended; wait for the service and send the request again"
    )]
    ServerGone {
        /// The service.
        service: String,
        /// The request's number at this client.
        sequence: u64,
        /// The number of servers when the request was sent.
        servers: usize,
    },

    /// Responses were overwritten before the client took them; the response to this request may have been among them.
    #[error(
        "the response to request {sequence} to {service} is lost: {overwritten} late or repeated responses came before this \
         client took it; take responses sooner, or create the client with a larger QoS depth"
    )]
    ResponseLost {
        /// The service.
        service: String,
        /// The request's number at this client.
        sequence: u64,
        /// The number of responses that this client has lost so far.
        overwritten: u64,
    },

    /// A request that was not answered in time.
    #[error(
        "request {sequence} to {service} was not answered within {waited_ms} ms; {progress}; allow more time, or check what \
         the server does"
    )]
    CallTimeout {
        /// The service.
        service: String,
        /// The request's number at this client.
        sequence: u64,
        /// The time that the call waited.
        waited_ms: u64,
        /// A clause of the error sentence that states whether the servers have taken the request.
        progress: String,
    },

    /// A message whose length differs from the fixed length of the topic's type.
    #[error(
        "a message of {length_bytes} bytes cannot be published on {topic}: each {type_name} has exactly {fixed_bytes} \
         bytes; publish messages of the topic's type"
    )]
    WrongLength {
        /// The publisher's topic.
        topic: String,
        /// The topic's type.
        type_name: String,
        /// The length of the message.
        length_bytes: usize,
        /// The length of every message of the type.
        fixed_bytes: usize,
    },

    /// A defect in a message: in its bytes, its shape, or the elements assigned to a list.
    #[error(transparent)]
    Cdr(#[from] gantry_cdr::Error),

    /// A call or a future that ended because the program shuts down.
    #[error("{what} was cancelled, because the program shuts down")]
    ShutDown {
        /// The operation that the shutdown ended: a request with its service, or a wait.
        what: String,
    },

    /// A message that cannot be serialised.
    #[error("a {type_name} for {topic} cannot be built: {error}")]
    CannotBuild {
        /// The publisher's topic.
        topic: String,
        /// The message's type.
        type_name: &'static str,
        /// The defect, with the field.
        error: gantry_cdr::Error,
    },
}

/// The last part of the sentence of [`Error::NoServer`]: the reason or, if it is empty, advice.
fn why_or_advice(why: &str) -> String {
    match why {
        "" => "; start a server, or wait with wait_for_service".to_owned(),
        why => format!(": {why}"),
    }
}

/// Prints the same sentence as `Display`, because `main` prints a returned error by `Debug`.
impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

/// A result of the library.
pub type Result<T> = std::result::Result<T, Error>;
