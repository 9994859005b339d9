//! Gantry as a middleware that `perf_test` measures: the back end, and the benchmark messages.
//!
//! This crate is separate from `perf-test` because its code runs in the measured processes.
#![forbid(unsafe_code)]

mod backend;
pub mod messages;

pub use backend::Gantry;
