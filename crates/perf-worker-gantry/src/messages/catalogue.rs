//! The catalogue of messages: the names in each layout (1.x and 2.x), and the search for a name that a user gave.
//!
//! A message that is the same in both layouts is listed once.

use gantry_msgs::{
    irobot_interfaces_plugin::msg as irobot_interfaces_plugin, performance_test::msg as performance_test,
    performance_test_msgs::msg as performance_test_msgs, v1::performance_test::msg as v1,
};

use super::MessageType;
use perf_worker::run_spec::{Content, Layout, MessageSpec};
use perf_worker::{choice::Choice, nearest::or_nearest};

macro_rules! catalogue {
    ($types:ident: $($package:ident { $($name:ident)+ })+) => {
        static $types: &[MessageType] = &[$($(MessageType::for_message::<$package::$name>(stringify!($name)),)+)+];
    };
}

catalogue!(ONLY_V1: v1 {
    Array1k Array4k Array16k Array32k Array60k Array64k Array256k Array1m Array2m Array4m Array8m
    PointCloud512k PointCloud1m PointCloud2m PointCloud4m PointCloud8m NavSatFix Range RadarDetection RadarTrack });
catalogue!(ONLY_V2: performance_test {
    Array32 Array64 Array128 Array256 Array512 Array1k Array4k Array16k Array32k Array60k Array64k Array256k Array1m Array2m
    Array4m Array8m PointCloud512k PointCloud1m PointCloud2m PointCloud4m PointCloud8m });
catalogue!(BOTH:
    performance_test {
        Struct16 Struct256 Struct4k Struct32k BoundedSequence1k BoundedSequence4k BoundedSequence16k BoundedSequence32k
        BoundedSequence64k BoundedSequence256k BoundedSequence1m BoundedSequence2m BoundedSequence4m BoundedSequence8m
        UnboundedSequence UnboundedString }
    irobot_interfaces_plugin {
        Stamped10b Stamped50b Stamped100b Stamped250b Stamped1kb Stamped5kb Stamped10kb Stamped25kb Stamped50kb
        Stamped100kb Stamped250kb Stamped500kb Stamped600kb Stamped1mb Stamped4mb Stamped5mb Stamped8mb
        Stamped3Float32 Stamped4Float32 Stamped9Float32 Stamped12Float32 Stamped4Int32 StampedInt64 StampedVector }
    performance_test_msgs { Sample });

fn types(layout: Layout) -> impl Iterator<Item = &'static MessageType> {
    let only = match layout {
        Layout::V1 => ONLY_V1,
        Layout::V2 => ONLY_V2,
    };
    only.iter().chain(BOTH)
}

/// The type of the message that has exactly this name in a layout.
pub fn message_type(name: &str, layout: Layout) -> Option<&'static MessageType> {
    types(layout).find(|known| known.name == name)
}

/// A message of the catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageChoice {
    /// The name of the message in `perf_test`, for example `Array4m`.
    pub name: &'static str,
    /// The full name of the message type, for example `performance_test/msg/Array4m`.
    pub type_name: &'static str,
    /// The content of the message.
    pub content: Content,
    /// The length of an encoded message, bytes.
    pub bytes: usize,
    /// The number of bytes of the message to which `--touch` applies; 0 if the whole message is always written and
    /// read.
    pub payload_bytes: usize,
    /// The largest id that the message can carry.
    pub last_id: u64,
}

impl MessageChoice {
    /// The specification of this message for a run. `unbounded_bytes` is the payload if the message has variable size.
    /// It must be the same number as in the search for the message.
    #[must_use]
    pub fn spec(&self, layout: Layout, unbounded_bytes: u32) -> MessageSpec {
        MessageSpec {
            name: self.name.to_owned(),
            type_name: self.type_name.to_owned(),
            layout,
            content: self.content,
            bytes: self.bytes,
            last_id: self.last_id,
            unbounded_bytes,
        }
    }
}

impl MessageType {
    /// The catalogue's entry for this type. `unbounded_bytes` is the payload if the message has variable size.
    fn choice(&self, unbounded_bytes: usize) -> MessageChoice {
        let message = (self.prepared)(unbounded_bytes);
        // The error cannot occur, because messages that are too long have been refused before.
        let bytes = message.loan_bytes().unwrap_or(usize::MAX);
        MessageChoice {
            name: self.name,
            type_name: self.type_name,
            content: self.content,
            bytes,
            payload_bytes: message.payload().len(),
            last_id: self.last_id,
        }
    }
}

/// All messages of a layout. Messages of variable size have a payload of `unbounded_bytes`.
pub fn list(layout: Layout, unbounded_bytes: usize) -> impl Iterator<Item = MessageChoice> {
    types(layout).map(move |known| known.choice(unbounded_bytes))
}

/// Whether a message in any layout has exactly this name.
pub fn is_message(name: &str) -> bool {
    [Layout::V1, Layout::V2].into_iter().any(|layout| message_type(name, layout).is_some())
}

/// Finds a message by its name, by ROS 2's full name (`performance_test/msg/Array4m`) or by the name in topology files
/// (`irobot_interfaces_plugin::stamped_vector`). Case is ignored. `unbounded_bytes` is the payload if the message has
/// variable size.
///
/// # Errors
/// The reason, as a sentence. It suggests the most similar name, if there is one, and the command that lists all
/// messages.
pub fn find(name: &str, layout: Layout, unbounded_bytes: usize) -> Result<MessageChoice, String> {
    let (package, wanted) = parts(name);
    if let Some(known) = types(layout).find(|known| known.name.to_lowercase() == wanted)
        && package.is_none_or(|package| known.type_name.split('/').next() == Some(package))
    {
        return Ok(known.choice(unbounded_bytes));
    }
    let nearest = or_nearest(&wanted, types(layout).map(|known| known.name));
    let layout = layout.name();
    Err(format!(
        "there is no message `{name}` in the {layout} layout{nearest}. \
         `perf_test --msg-list --message-layout {layout}` lists them all"
    ))
}

/// The package, if `name` contains one, and the rest of the name in lower case without underscores (topology files use
/// them).
fn parts(name: &str) -> (Option<&str>, String) {
    let (package, short) = match name.split_once("::").or_else(|| name.split_once('/')) {
        Some((package, rest)) => (Some(package), rest.strip_prefix("msg/").unwrap_or(rest)),
        None => (None, name),
    };
    (package, short.to_lowercase().replace('_', ""))
}
