//! The capabilities of a middleware: the options of a run that it supports.

use serde::{Deserialize, Serialize};

use super::{
    matching::MatchingKind,
    message::Content,
    qos::{Durability, History, Reliability},
    ways::Wait,
};
use crate::choice::{Choice, choice};

/// The options of a run that a middleware supports. A run with other options is refused before it begins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Capabilities {
    /// The message contents that the middleware supports with `--zero-copy`: publishers loan messages and subscriptions
    /// read them in place. If the list is empty, a run with `--zero-copy` is refused.
    pub zero_copy: Vec<Content>,
    /// Whether the middleware supports copying messages in and out. If not, every run needs `--zero-copy`.
    pub copies: bool,
    /// The supported values of `--reliability`.
    pub reliability: Vec<Reliability>,
    /// The supported values of `--durability`.
    pub durability: Vec<Durability>,
    /// The supported values of `--history`.
    pub history: Vec<History>,
    /// The largest supported `--history-depth`; `None` if every value of the option is supported.
    pub history_depth_max: Option<u32>,
    /// The supported values of `--wait`. If the middleware delivers messages on its own threads (push), only `adaptive`
    /// has a meaning.
    pub wait: Vec<Wait>,
    /// Whether subscriptions take messages or the middleware delivers them.
    pub delivery: DeliveryKind,
    /// The information that endpoints give about matched endpoints.
    pub matching: MatchingKind,
    /// Whether received messages identify their publishers. If not, a topic may have only one publisher.
    pub sources: bool,
    /// Whether subscriptions count the messages that newer messages pushed out of the history.
    pub overwritten: bool,
    /// Whether the middleware has services outside of executors.
    pub services: bool,
    /// Whether the middleware can send bytes without a type (`--raw`).
    pub raw: bool,
    /// Whether the middleware reports the times of at least some phases of a transfer (`--phases`).
    pub phases: bool,
    /// The kinds of executors that the middleware has, the default first. If the list is empty, the middleware cannot
    /// run topologies.
    #[serde(default)]
    pub executors: Vec<String>,
}

impl Capabilities {
    /// All capabilities, with pull delivery and exact counts of matched endpoints. `phases` is false, because its time
    /// marks change the path of messages.
    #[must_use]
    pub fn all() -> Capabilities {
        fn values<T: Choice>() -> Vec<T> {
            T::ALL.iter().map(|(value, ..)| *value).collect()
        }
        Capabilities {
            zero_copy: vec![
                Content::Plain,
                Content::Fields,
                Content::BoundedSequence,
                Content::Sequence,
                Content::Text,
            ],
            copies: true,
            reliability: values(),
            durability: values(),
            history: values(),
            history_depth_max: None,
            wait: values(),
            delivery: DeliveryKind::Pull,
            matching: MatchingKind::Count,
            sources: true,
            overwritten: true,
            services: true,
            raw: true,
            phases: false,
            executors: Vec::new(),
        }
    }
}

choice! {
    /// The way in which messages reach subscriptions.
    pub enum DeliveryKind {
        /// The endpoint's thread takes the messages.
        Pull = "pull",
        /// Threads of the middleware deliver the messages.
        Push = "push",
    }
    default Pull
}
