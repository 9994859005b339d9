//! Code that the benchmarks of several crates share.
//!
//! No library links this crate, and it links none of Gantry's crates: the benchmarks pass their figures to it.

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

/// An error of a benchmark: a sentence that can be sent to another thread.
pub type Error = Box<dyn std::error::Error + Send + Sync>;
/// A result whose error is a sentence.
pub type Result<T> = std::result::Result<T, Error>;
