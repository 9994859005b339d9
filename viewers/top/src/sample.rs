//! A sample: the result of one inspection of the domain, with the rates since the previous inspection. Its fields are
//! also the keys of the JSON output.

use gantry_command::text::bytes;
use serde::Serialize;

/// The state of a domain at one time.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Sample {
    /// The number of the domain.
    pub domain_id: u32,
    /// The time of the inspection, in nanoseconds since 1970.
    pub time_ns: u64,
    /// The number of living processes.
    pub processes: usize,
    /// The memory of all files of the domain.
    pub used_bytes: u64,
    /// The topics, sorted by name.
    pub topics: Vec<Topic>,
    /// The nodes, sorted by name.
    pub nodes: Vec<Node>,
    /// The problems that the inspection found, as sentences.
    pub problems: Vec<String>,
}

/// A topic.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Topic {
    /// The full name.
    pub name: String,
    /// The types of the topic's endpoints, separated by commas.
    pub type_name: String,
    /// The number of messages per second from all publishers; `None` if the previous inspection found none of these
    /// publishers.
    pub rate_hz: Option<f64>,
    /// Bytes per second, estimated as the message rate times the mean length of the newest messages.
    pub bytes_per_s: Option<f64>,
    /// The number of messages that the slowest matched subscription has not taken yet.
    pub lag: u64,
    /// The number of messages that the present subscriptions have lost since they were matched.
    pub lost: u64,
    /// The number of lost messages per second.
    pub lost_per_s: Option<f64>,
    /// The memory of the publishers' files.
    pub used_bytes: u64,
    /// The publishers.
    pub publishers: Vec<Publisher>,
    /// The subscriptions.
    pub subscriptions: Vec<Subscription>,
    /// The processes that hold messages of the topic.
    pub held: Vec<Held>,
}

/// A publisher.
#[derive(Clone, Debug, Serialize)]
pub struct Publisher {
    /// The full name of the publisher's node.
    pub node: String,
    /// The program and pid of the publisher's process.
    pub process: String,
    /// The number of messages per second.
    pub rate_hz: Option<f64>,
    /// The number of bytes per second.
    pub bytes_per_s: Option<f64>,
    /// The mean length of the publisher's newest messages.
    pub message_bytes: u64,
    /// The sequence number of the publisher's newest message; 0 if there is none.
    pub newest: u64,
    /// The number of messages that the publisher keeps for subscriptions.
    pub kept: u64,
    /// The number of matched subscriptions.
    pub matched: usize,
    /// The memory of the publisher's file.
    pub used_bytes: u64,
    /// Whether the publisher waits for a RELIABLE KEEP_ALL subscription.
    pub is_blocked: bool,
}

/// A subscription.
#[derive(Clone, Debug, Serialize)]
pub struct Subscription {
    /// The full name of the subscription's node.
    pub node: String,
    /// The program and pid of the subscription's process.
    pub process: String,
    /// The number of messages that the subscription has not taken yet; `None` if it has no matched publisher.
    /// Subscriptions of one process with equal depth cannot be distinguished, so each of them has the largest number.
    pub lag: Option<u64>,
    /// The history depth of the subscription; `None` for KEEP_ALL.
    pub depth: Option<u32>,
    /// Whether publishers wait for the subscription (RELIABLE and KEEP_ALL on both sides).
    pub is_gating: bool,
    /// The number of messages that the subscription has lost since it was matched.
    pub lost: u64,
    /// The number of lost messages per second.
    pub lost_per_s: Option<f64>,
}

/// The messages of a topic that one process holds.
#[derive(Clone, Debug, Serialize)]
pub struct Held {
    /// The program and pid of the process.
    pub process: String,
    /// The number of messages.
    pub messages: usize,
    /// The number of bytes in these messages.
    pub bytes: u64,
}

/// A node.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Node {
    /// The full name of the node.
    pub name: String,
    /// The program and pid of the node's process.
    pub process: String,
    /// The number of publishers, without the publishers of services.
    pub publishers: usize,
    /// The number of subscriptions, without the subscriptions of services.
    pub subscriptions: usize,
    /// The number of service servers.
    pub services: usize,
    /// The number of service clients.
    pub clients: usize,
    /// The number of messages per second from all publishers of the node.
    pub rate_hz: Option<f64>,
    /// The number of bytes per second from all publishers of the node.
    pub bytes_per_s: Option<f64>,
    /// The number of messages that the node's subscriptions lost.
    pub lost: u64,
    /// The memory of the files of the node's publishers.
    pub used_bytes: u64,
}

impl Topic {
    /// The processes that hold messages, as text: the process that holds most bytes, and the number of other processes.
    #[must_use]
    pub fn held_by(&self) -> String {
        match &self.held[..] {
            [] => String::new(),
            [held] => held.to_string(),
            [held, rest @ ..] => format!("{held}, {} others", rest.len()),
        }
    }

    /// Whether the topic belongs to a service, or has a name that `ros2` hides.
    #[must_use]
    pub fn is_hidden(&self) -> bool {
        !self.name.starts_with('/') || is_hidden(&self.name)
    }
}

impl std::fmt::Display for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} ({})", pid_first(&self.process), self.messages, bytes(self.bytes))
    }
}

/// Formats a rate in bytes per second, for example as "1.4 GB"; "-" if there is no rate.
#[must_use]
pub fn byte_rate(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| bytes(value as u64))
}

/// Puts the pid of a process first ("7 talker" for "talker (pid 7)"), so that a narrow column still shows the pid.
#[must_use]
pub fn pid_first(process: &str) -> String {
    match process.strip_suffix(')').and_then(|start| start.rsplit_once(" (pid ")) {
        Some((program, pid)) => format!("{pid} {program}"),
        None => process.to_owned(),
    }
}

/// Whether ROS 2 hides a name: one of the parts between slashes begins with an underscore.
#[must_use]
pub fn is_hidden(name: &str) -> bool {
    name.split('/').any(|part| part.starts_with('_'))
}

/// Formats the table of topics as text, for output without a terminal.
impl std::fmt::Display for Sample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let width = self.topics.iter().map(|topic| topic.name.chars().count()).max().unwrap_or(0).max(5);
        writeln!(f, "{:width$}        HZ    BYTES/S  PUB  SUB      LAG     LOST    MEMORY  HELD BY", "TOPIC")?;
        for topic in &self.topics {
            let line = format!(
                "{:width$}  {:>8}  {:>9}  {:>3}  {:>3}  {:>7}  {:>7}  {:>8}  {}",
                topic.name,
                topic.rate_hz.map_or("-".to_owned(), |rate| format!("{rate:.2}")),
                byte_rate(topic.bytes_per_s),
                topic.publishers.len(),
                topic.subscriptions.len(),
                topic.lag,
                topic.lost,
                bytes(topic.used_bytes),
                topic.held_by()
            );
            writeln!(f, "{}", line.trim_end())?;
        }
        self.problems.iter().try_for_each(|problem| writeln!(f, "problem: {problem}"))
    }
}
