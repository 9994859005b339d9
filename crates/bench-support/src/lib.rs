//! Code that the benchmarks of several crates share.
//!
//! No library links this crate, and it links none of Gantry's crates: the benchmarks pass their figures to it.

mod benchmark;
pub mod cpus;
mod error;
pub mod peer;
mod process;
pub mod statistics;
pub mod ticks;
pub mod usage;

pub use {
    benchmark::{Benchmark, Options, no_role},
    error::{Error, Result},
    process::Process,
};
