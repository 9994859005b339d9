//! The messages of a run: type, layout, content and size.

use serde::{Deserialize, Serialize};

use crate::choice::choice;

choice! {
    /// The layout of the benchmark messages, by versions of performance_test.
    pub enum Layout {
        /// As in performance_test before 1.5. Array1k has 1040 bytes: an array of the size in the name, then time and
        /// id.
        V1 = "1.x",
        /// As in performance_test 1.5 and 2.x. Array1k has 1024 bytes, including time and id.
        V2 = "2.x",
    }
    default V2
}

/// The content of a message. It determines how much work a message needs besides stamping and copying.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Content {
    /// A plain struct of fixed size, which needs no conversion.
    #[default]
    Plain,
    /// A struct of fixed size with fields that are not all numbers.
    Fields,
    /// A bounded sequence that is filled to its bound.
    BoundedSequence,
    /// A sequence of `--unbounded-msg-size` bytes.
    Sequence,
    /// A text of `--unbounded-msg-size` bytes.
    Text,
}

impl Content {
    /// Whether `--unbounded-msg-size` applies to this content.
    #[must_use]
    pub fn is_unbounded(self) -> bool {
        matches!(self, Content::Sequence | Content::Text)
    }
}

/// The type of messages, and their size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MessageSpec {
    /// The message type by its name for `-m`, for example `Array4m`.
    #[serde(rename = "message")]
    pub name: String,
    /// The name of the ROS 2 type. It is empty in logs of older versions, which also lack `content` and `last_id`.
    #[serde(rename = "message_type", default)]
    pub type_name: String,
    /// The performance_test version of the message's layout.
    #[serde(rename = "message_layout")]
    pub layout: Layout,
    /// The content of the message.
    #[serde(rename = "message_content", default)]
    pub content: Content,
    /// The size of a message when it is sent, including time and id, bytes.
    #[serde(rename = "message_bytes")]
    pub bytes: usize,
    /// The largest id that a message can carry; its bits are all ones. The id wraps around to 0 after it.
    #[serde(rename = "message_last_id", default)]
    pub last_id: u64,
    /// The payload of messages whose type has unbounded size, bytes.
    #[serde(rename = "unbounded_payload_bytes")]
    pub unbounded_bytes: u32,
}
