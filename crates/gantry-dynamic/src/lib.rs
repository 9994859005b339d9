//! Looks at messages by a definition that is known at run time only, and prints them.
//!
//! Used by what has no generated code for a type: `topic echo`, recorders, bridges.
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
//! - Bytes come from elsewhere: a view checks all of them when it is made, by the rules of `gantry-cdr`, and says what is wrong
//!   with the same [`gantry_cdr::Error`]. No function here panics, whatever becomes of the bytes afterwards.
//! - Nothing is kept of a message but where it begins: a field is reached by passing over those before it. Nothing is allocated.

#![forbid(unsafe_code)]

mod cursor;
mod list;
mod message;
mod message_type;
#[cfg(feature = "testing")]
pub mod testing;
mod value;
mod wide_text;
mod yaml;

pub use list::{Elements, List, Number};
pub use message::{DynamicMessage, Fields};
pub use message_type::MessageType;
pub use value::Value;
pub use wide_text::WideText;
pub use yaml::Yaml;

/// Compiles the README's programs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
