//! Views of ROS 2 messages whose definitions are known only at run time, and conversion of messages to and from YAML.
//!
//! Recorders, bridges and tools such as `topic echo` use these views, because they have no generated code for the
//! messages.
//!
//! ```
//! use gantry_dynamic::MessageType;
//! use gantry_idl::Definitions;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let name = "my_robot/msg/Range".parse()?;
//! let definitions = Definitions::from_text(&name, "uint8 sensor\nfloat32[] ranges_m")?;
//! let range = MessageType::new(&definitions, &name)?; // once for a topic
//!
//! let bytes = [0, 1, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0x3f];
//! let message = range.view_cdr(&bytes)?; // for each message
//! assert_eq!(message.get("ranges_m[0]").and_then(|range| range.as_float()), Some(0.5));
//! assert_eq!(message.to_string(), "sensor: 7\nranges_m:\n- 0.5\n");
//! # Ok(()) }
//! ```
//!
//! # Invariants
//! - Bytes are not trusted. A view checks all of them when it is made, by the rules of `gantry-cdr`, and returns the
//!   same [`gantry_cdr::Error`]. No function of this crate panics, even if the bytes change after the check.
//! - A view has only the position of its message. To find a field, it skips all fields before it. It allocates nothing.

#![forbid(unsafe_code)]

mod byte_order;
mod cursor;
mod filter;
mod list;
mod message;
mod message_type;
#[cfg(feature = "testing")]
pub mod testing;
mod value;
mod wide_text;
mod yaml;

pub use filter::{Filter, FilterError};
pub use list::{Elements, List, Number};
pub use message::{DynamicMessage, Fields, Position};
pub use message_type::MessageType;
pub use value::Value;
pub use wide_text::WideText;
pub use yaml::{Yaml, YamlError};

/// Compiles the programs in the README as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
