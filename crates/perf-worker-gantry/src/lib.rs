//! The back end with which `perf_test` measures Gantry, and the benchmark messages.
//!
//! This crate is separate from `perf-test`, because its code runs in the measured processes.
#![forbid(unsafe_code)]

mod backend;
pub mod messages;

pub use backend::Gantry;
