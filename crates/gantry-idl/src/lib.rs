//! Reads ROS 2's message and service files (`.msg`, `.srv`), checks, resolves and hashes them, and compiles them to
//! Rust, C++ or OMG IDL.
//!
//! Definitions are read from folders of packages ([`compile`], in build scripts) or from a text
//! ([`Definitions::from_text`], at run time). A text may come from an untrusted process, so no input causes a panic.
//!
//! ```
//! # fn main() -> Result<(), gantry_idl::Errors> {
//! let name = "my_robot/msg/Range".parse()?;
//! let definitions = gantry_idl::Definitions::from_text(&name, "float64 range_m  # [m]")?;
//! let message = definitions.message(&name).expect("the message was just read");
//! assert_eq!(message.fields[0].comment, "[m]");
//! assert_eq!(definitions.max_size_bytes(&name), Some(8));
//! # Ok(()) }
//! ```

#![forbid(unsafe_code)]

mod comment;
mod cpp;
mod dds_idl;
mod definitions;
mod error;
mod field_type;
mod generate;
mod hash;
mod layout;
mod literal;
mod model;
mod name;
mod packages;
mod parser;
mod resolve;
mod suggestion;
mod text;
mod token;
mod value;

pub use cpp::cpp_headers;
pub use dds_idl::dds_idl;
pub use definitions::Definitions;
pub use error::{Error, Errors, Location};
pub use generate::{compile, compile_to, export, generate};
pub use layout::PlainStruct;
pub use model::{
    BaseType, Constant, Count, EMPTY_MESSAGE_FIELD, Field, FieldType, MessageDefinition, Primitive, ServiceDefinition,
};
pub use name::{Namespace, TypeName};
pub use value::Value;

/// Compiles the programs in the README as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
