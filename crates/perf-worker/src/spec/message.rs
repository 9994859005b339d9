//! The messages of a run: type, layout, content and size.

use serde::{Deserialize, Serialize};

use crate::choice::choice;

choice! {
    /// The generation of the layouts of the benchmark messages.
    pub enum Layout {
        /// Array1k is 1040 bytes: the array as named, then time and id. performance_test before 1.5.
        V1 = "1.x",
        /// Array1k is 1024 bytes, time and id included. performance_test 1.5 and 2.x.
        V2 = "2.x",
    }
    default V2
}

/// The content of a message. It determines the work besides stamping and, without zero copy, besides copying.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Content {
    /// A struct in place, always of the same size.
    #[default]
    Plain,
    /// Fields that are not all numbers, always of the same size.
    Fields,
    /// A sequence that is sent at its capacity.
    BoundedSequence,
    /// A sequence of `--unbounded-msg-size` bytes.
    Sequence,
    /// A text of `--unbounded-msg-size` bytes.
    Text,
}

impl Content {
    /// Whether `--unbounded-msg-size` applies.
    #[must_use]
    pub fn is_unbounded(self) -> bool {
        matches!(self, Content::Sequence | Content::Text)
    }
}

/// The type of messages, and their size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MessageSpec {
    /// The message type by its name for `-m`, as `Array4m`.
    #[serde(rename = "message")]
    pub name: String,
    /// The name of the ROS 2 type; empty in older logs, which have neither content nor last id.
    #[serde(rename = "message_type", default)]
    pub type_name: String,
    /// The performance_test version of the message's layout.
    #[serde(rename = "message_layout")]
    pub layout: Layout,
    /// The content of the message.
    #[serde(rename = "message_content", default)]
    pub content: Content,
    /// The size of a message as it is sent, time and id included, bytes.
    #[serde(rename = "message_bytes")]
    pub bytes: usize,
    /// The largest id that a message can carry, whose bits are all ones; the next id is carried as 0.
    #[serde(rename = "message_last_id", default)]
    pub last_id: u64,
    /// The payload of a message type of unbounded size, bytes.
    #[serde(rename = "unbounded_payload_bytes")]
    pub unbounded_bytes: u32,
}
