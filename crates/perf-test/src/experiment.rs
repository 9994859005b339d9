//! One run, completely described and checked: what is sent, how often, by whom, for how long.
//!
//! Made by `cli` from the command line, given to the coordinator, and sent to every worker as JSON.
//! Invariant: values are within the ranges that the command line promises, so nobody checks again.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// Which generation of the benchmark messages' layouts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
pub enum Layout {
    /// Array1k is 1040 bytes: the array as named, then time and id. performance_test before 1.5.
    #[value(name = "1.x")]
    V1,
    /// Array1k is 1024 bytes, time and id included. performance_test 1.5 and 2.x.
    #[default]
    #[value(name = "2.x")]
    V2,
}

impl Layout {
    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Layout::V1 => "1.x",
            Layout::V2 => "2.x",
        }
    }
}

/// What a message is made of, and so what is done besides stamping and, without zero copy, copying.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Content {
    /// A struct in place, always of the same size.
    Plain,
    /// Fields that are not all numbers, always of the same size.
    Fields,
    /// A sequence that is sent at its capacity.
    BoundedSequence,
    /// A sequence as long as `--unbounded-msg-size` says.
    Sequence,
    /// A text as long as `--unbounded-msg-size` says.
    Text,
}

impl Content {
    /// Whether `--unbounded-msg-size` applies.
    #[must_use]
    pub fn is_unbounded(self) -> bool {
        matches!(self, Content::Sequence | Content::Text)
    }
}

/// Where publishers and subscriptions run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
pub enum Strategy {
    /// The publishers in one process, every subscription in its own.
    #[default]
    #[value(name = "INTER_PROCESS")]
    InterProcess,
    /// Everything on threads of one process.
    #[value(name = "INTER_THREAD")]
    InterThread,
}

/// Whether losses are allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
pub enum Reliability {
    /// What the history holds is delivered.
    #[value(name = "RELIABLE")]
    Reliable,
    /// Losses are allowed.
    #[default]
    #[value(name = "BEST_EFFORT")]
    BestEffort,
}

/// Whether a late subscription gets what was sent before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
pub enum Durability {
    /// It gets the publisher's history.
    #[value(name = "TRANSIENT_LOCAL")]
    TransientLocal,
    /// It does not.
    #[default]
    #[value(name = "VOLATILE")]
    Volatile,
}

/// Which samples are kept for readers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
pub enum History {
    /// The newest ones, as many as the depth says.
    #[default]
    #[value(name = "KEEP_LAST")]
    KeepLast,
    /// All.
    #[value(name = "KEEP_ALL")]
    KeepAll,
}

/// The name of an option's value on the command line.
pub fn name_of(value: impl ValueEnum) -> String {
    value.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// Name of the message type, as `Array4m`.
    pub message: String,
    /// Generation of its layout.
    pub layout: Layout,
    /// What it is made of.
    pub content: Content,
    /// Its true size in bytes, time and id included.
    pub message_bytes: usize,
    /// Payload of a message that has no size of its own, bytes.
    pub unbounded_bytes: u32,
    /// The topic as given.
    pub topic: String,
    /// ROS 2 domain, 0 to 232.
    pub domain_id: u32,
    /// Messages a second from each publisher; 0 is as fast as possible.
    pub rate_hz: u32,
    /// Publishers of this run; 0 if another program publishes.
    pub publishers: u32,
    /// Subscriptions of this run; 0 if another program subscribes.
    pub subscriptions: u32,
    /// Where they run.
    pub strategy: Strategy,
    /// Quality of service: reliability.
    pub reliability: Reliability,
    /// Quality of service: durability.
    pub durability: Durability,
    /// Quality of service: history.
    pub history: History,
    /// Quality of service: samples kept by KEEP_LAST.
    pub history_depth: u32,
    /// Seconds from the first message to the last; 0 is until interrupted.
    pub max_runtime_s: u32,
    /// Seconds at the beginning that are in no row and no statistic.
    pub ignore_s: u32,
    /// Messages are loaned and read in place, not copied in and out.
    pub zero_copy: bool,
    /// `--shared-memory` was given: said in the heading, changes nothing.
    pub shared_memory: bool,
}

impl Experiment {
    /// Whether both ends belong to this run, so that it gets a name space of its own.
    #[must_use]
    pub fn is_private(&self) -> bool {
        self.publishers > 0 && self.subscriptions > 0
    }

    /// The quality of service in one line.
    #[must_use]
    pub fn qos(&self) -> String {
        let depth = match self.history {
            History::KeepLast => format!(" {}", self.history_depth),
            History::KeepAll => String::new(),
        };
        let (reliability, durability, history) =
            (name_of(self.reliability), name_of(self.durability), name_of(self.history));
        format!("{reliability}, {durability}, {history}{depth}")
    }
}
