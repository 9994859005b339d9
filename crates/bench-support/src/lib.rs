//! Code that the benchmarks of several crates share.
//!
//! No library links this crate, and it links none of Gantry's crates: the figures of a benchmark come from the
//! benchmark's own files.

mod benchmark;
pub mod cpus;
pub mod peer;
mod process;
pub mod statistics;
pub mod ticks;
pub mod usage;

pub use {
    benchmark::{Benchmark, Options, no_role},
    process::Process,
};

/// The error of a benchmark, a sentence. It may be sent from one thread to another.
pub type Error = Box<dyn std::error::Error + Send + Sync>;
/// A result whose error is a sentence.
pub type Result<T> = std::result::Result<T, Error>;
