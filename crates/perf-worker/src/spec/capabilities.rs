//! The capabilities of a middleware: the options of a run that it carries out.

use serde::{Deserialize, Serialize};

use super::{
    matching::MatchingKind,
    message::Content,
    qos::{Durability, History, Reliability},
    ways::Wait,
};
use crate::choice::{Choice, choice};

/// The options of a run that a middleware carries out. A run with others is refused before it begins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Capabilities {
    /// The contents that it loans for writing and reads in place; without any, `--zero-copy` is refused.
    pub zero_copy: Vec<Content>,
    /// It copies messages in and out; if not, a run needs `--zero-copy`.
    pub copies: bool,
    /// Values of `--reliability`.
    pub reliability: Vec<Reliability>,
    /// Values of `--durability`.
    pub durability: Vec<Durability>,
    /// Values of `--history`.
    pub history: Vec<History>,
    /// The largest `--history-depth`; none: as large as the option.
    pub history_depth_max: Option<u32>,
    /// Values of `--wait`; with push delivery only `adaptive` has a meaning.
    pub wait: Vec<Wait>,
    /// The way in which messages reach subscriptions.
    pub delivery: DeliveryKind,
    /// The knowledge of endpoints about their matching.
    pub matching: MatchingKind,
    /// Subscriptions tell the publishers of their messages apart; without that, a topic has one publisher.
    pub sources: bool,
    /// Subscriptions count the messages that left the history.
    pub overwritten: bool,
    /// It has services, outside of executors.
    pub services: bool,
    /// It sends bytes without a type (`--raw`).
    pub raw: bool,
    /// It marks the phases of a message's way (`--phases`), all or some.
    pub phases: bool,
    /// The executors in which it runs the callbacks of nodes, the default first; without any, it runs no topology.
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
