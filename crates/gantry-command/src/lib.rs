//! The parts that Gantry's commands share: output as text or JSON, errors as sentences, hidden nodes, topics by name.
//!
//! This crate is not a library for applications.

#![forbid(unsafe_code)]
#![deny(clippy::print_stderr)] // `eprintln!` panics on a closed pipe

mod error;
#[cfg(feature = "messages")]
pub mod message;
mod options;
mod output;
#[cfg(feature = "selection")]
mod selection;
pub mod text;

pub use error::{Context, Failure, Result, output_failure};
pub use options::{CommonOptions, hidden_node, is_native, spawn};
pub use output::{Output, exit_code, name_program, say};
#[cfg(feature = "selection")]
pub use selection::{Selection, TopicOptions};
