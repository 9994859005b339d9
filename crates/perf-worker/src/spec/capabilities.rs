//! The capabilities of a middleware: the options of a run that it carries out.

use serde::{Deserialize, Serialize};

use super::{
    matching::MatchingKind,
    message::Content,
    qos::{Durability, History, Reliability},
    ways::Wait,
};
use crate::choice::{Choice, choice};

/// The options of a run that a middleware carries out. A run with other options is refused before it begins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Capabilities {
    /// The message contents that the middleware loans for writing and reads in place. If there are none, a run with
    /// `--zero-copy` is refused.
    pub zero_copy: Vec<Content>,
    /// The middleware copies messages in and out. If it does not, a run needs `--zero-copy`.
    pub copies: bool,
    /// Values of `--reliability`.
    pub reliability: Vec<Reliability>,
    /// Values of `--durability`.
    pub durability: Vec<Durability>,
    /// Values of `--history`.
    pub history: Vec<History>,
    /// The largest `--history-depth`; none if the middleware has every depth that the option allows.
    pub history_depth_max: Option<u32>,
    /// Values of `--wait`; with push delivery only `adaptive` has a meaning.
    pub wait: Vec<Wait>,
    /// The way in which messages reach subscriptions.
    pub delivery: DeliveryKind,
    /// The kind of information that endpoints have about their matching.
    pub matching: MatchingKind,
    /// Subscriptions distinguish the publishers of their messages. If they do not, a topic has one publisher.
    pub sources: bool,
    /// Subscriptions count the messages that left the history.
    pub overwritten: bool,
    /// The middleware has services outside of executors.
    pub services: bool,
    /// The middleware sends bytes without a type (`--raw`).
    pub raw: bool,
    /// The middleware marks the phases of a message's way (`--phases`), all or some of them.
    pub phases: bool,
    /// The executors in which the middleware runs the callbacks of nodes, the default first. If there are none, the
    /// middleware runs no topology.
    #[serde(default)]
    pub executors: Vec<String>,
}

impl Capabilities {
    /// All capabilities, with pull delivery and exact matching. Marks of phases are left out, because they change the
    /// path of messages.
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
        /// The endpoint's thread takes them.
        Pull = "pull",
        /// Threads of the middleware deliver them.
        Push = "push",
    }
    default Pull
}
