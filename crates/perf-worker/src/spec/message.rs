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

/// The content of a message. It determines the work besides stamping and, without zero copy, copying.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Content {
    /// A struct in place, always of the same size.
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
pub struct MessageSpec {
    /// Its name for `-m`, as `Array4m`.
    pub name: String,
    /// The name of the ROS 2 type.
    pub type_name: String,
    /// Generation of its layout.
    pub layout: Layout,
    /// Its content.
    pub content: Content,
    /// Its true size, time and id included.
    pub bytes: usize,
    /// The largest id that it can carry, all ones; the next one is carried as 0.
    pub last_id: u64,
    /// Payload of a message that has no size of its own, bytes.
    pub unbounded_bytes: u32,
}
