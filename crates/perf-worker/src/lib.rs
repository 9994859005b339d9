//! The worker library of `perf_test`. A program that connects `perf_test` to a middleware links this library.
//!
//! A worker is a process with publishers and subscriptions of one middleware. The middleware's program implements the
//! traits of [`backend`]. The module [`worker`] calls them in its measuring loops and reports to `perf_test`, so the
//! same code measures every middleware.
#![deny(unsafe_code)]

pub mod backend;
pub mod choice;
pub mod clock;
pub mod endpoint;
pub mod measure;
pub mod nearest;
pub mod pacing;
pub mod payload;
pub mod raw;
pub mod run_spec;
mod spec;
pub mod stamp;
pub mod worker;
