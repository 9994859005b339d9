//! The variants of the program `firmware/benchmark`. Environment variables of its build set its constants.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use crate::published::memory::{Entity, PUBLISHER, SERVICE, SUBSCRIPTION};

/// The kinds of entities that the program can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Publisher,
    Subscription,
    Service,
    Client,
}

impl Kind {
    /// All kinds of entities.
    pub const ALL: [Kind; 4] = [Kind::Publisher, Kind::Subscription, Kind::Service, Kind::Client];

    /// The name of one entity of this kind.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Publisher => "publisher",
            Kind::Subscription => "subscription",
            Kind::Service => "service",
            Kind::Client => "client",
        }
    }

    /// The published memory of this kind.
    #[must_use]
    pub fn published(self) -> &'static Entity {
        match self {
            Kind::Publisher => &PUBLISHER,
            Kind::Subscription => &SUBSCRIPTION,
            Kind::Service | Kind::Client => &SERVICE,
        }
    }
}

/// The longest message of the transport in bytes. micro-ROS has the same default.
pub const MTU_BYTES: u32 = 512;
/// The number of messages in the session's history, in the programs that do not vary it. The published rig has the same
/// number.
pub const HISTORY: u32 = 4;
/// The number of messages that the queue of a subscription holds: gantry-micro's default.
pub const SUBSCRIPTION_DEPTH: u32 = 4;
/// The number of messages that the queue of a service or of a client holds: gantry-micro's default.
pub const SERVICE_DEPTH: u32 = 1;

/// The constants of one build of the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Variant {
    /// True if the program has a session. A program without a session only starts the board; its static memory is
    /// subtracted from the memory of the other programs.
    pub has_session: bool,
    /// The numbers of entities, in the order of [`Kind::ALL`].
    #[serde(flatten, serialize_with = "by_kind")]
    pub counts: [u32; 4],
    /// The number of messages in the session's history.
    pub history: u32,
    /// The number of messages that the queue of each subscription holds.
    pub subscription_depth: u32,
    pub is_reliable: bool,
    /// The length of each `std_msgs/String`; null if the messages are `std_msgs/Int32`.
    pub text_bytes: Option<u32>,
    /// True if all publishers have the same topic, and all subscriptions have the same topic.
    pub has_one_topic: bool,
}

impl Variant {
    /// A session without entities.
    pub const EMPTY: Variant = Variant {
        has_session: true,
        counts: [0; 4],
        history: HISTORY,
        subscription_depth: SUBSCRIPTION_DEPTH,
        is_reliable: true,
        text_bytes: None,
        has_one_topic: false,
    };
    /// The board alone, without a session.
    pub const BASE: Variant = Variant { has_session: false, ..Variant::EMPTY };
    /// A publisher and a subscription.
    pub const PAIR: Variant = Variant { counts: [1, 1, 0, 0], ..Variant::EMPTY };

    /// A session with `count` entities of one kind.
    #[must_use]
    pub fn with(kind: Kind, count: u32) -> Variant {
        Variant { counts: Kind::ALL.map(|other| if other == kind { count } else { 0 }), ..Variant::EMPTY }
    }

    /// The number of entities of a kind.
    #[must_use]
    pub fn count(&self, kind: Kind) -> u32 {
        self.counts[kind as usize]
    }

    /// The environment variables of the variant's build.
    #[must_use]
    pub fn environment(&self) -> Vec<(String, String)> {
        let counts = Kind::ALL.map(|kind| (format!("{}S", kind.name().to_uppercase()), self.count(kind).to_string()));
        let others = [
            ("SESSION", self.has_session.to_string()),
            ("MTU_BYTES", MTU_BYTES.to_string()),
            ("HISTORY", self.history.to_string()),
            ("SUBSCRIPTION_DEPTH", self.subscription_depth.to_string()),
            ("SERVICE_DEPTH", SERVICE_DEPTH.to_string()),
            ("RELIABLE", self.is_reliable.to_string()),
            ("ONE_TOPIC", self.has_one_topic.to_string()),
            ("TEXT_BYTES", self.text_bytes.unwrap_or(0).to_string()),
        ];
        let all = counts.into_iter().chain(others.map(|(name, value)| (name.to_owned(), value)));
        all.map(|(name, value)| (format!("GANTRY_BENCHMARK_{name}"), value)).collect()
    }

    /// Describes the program in words, for example `1 publisher, 1 subscription, history 2`.
    #[must_use]
    pub fn title(&self) -> String {
        if !self.has_session {
            return "the board alone".to_owned();
        }
        let entities = Kind::ALL.map(|kind| match self.count(kind) {
            0 => None,
            1 => Some(format!("1 {}", kind.name())),
            count => Some(format!("{count} {}s", kind.name())),
        });
        let mut words: Vec<String> = entities.into_iter().flatten().collect();
        if words.is_empty() {
            words.push("a session without entities".to_owned());
        }
        words.extend((self.history != HISTORY).then(|| format!("history {}", self.history)));
        words.extend(
            (self.subscription_depth != SUBSCRIPTION_DEPTH).then(|| format!("queue of {}", self.subscription_depth)),
        );
        words.extend((!self.is_reliable).then(|| "best effort".to_owned()));
        words.extend(self.text_bytes.map(|bytes| format!("texts of {bytes} bytes")));
        words.extend(self.has_one_topic.then(|| "one topic".to_owned()));
        words.join(", ")
    }
}

/// Serialises the numbers of entities as a map from the names of their kinds.
fn by_kind<S: Serializer>(counts: &[u32; 4], serializer: S) -> Result<S::Ok, S::Error> {
    let names = Kind::ALL.map(|kind| format!("{}s", kind.name()));
    names.into_iter().zip(counts).collect::<BTreeMap<String, &u32>>().serialize(serializer)
}
