//! The worker of `perf_test`: the part that a program with a middleware links.
//!
//! A worker is a process with publishers and subscriptions of one middleware. The middleware implements the traits of
//! [`backend`]; [`worker`] runs them in the measuring loops and reports to `perf_test`. So every middleware is measured
//! by the same code.
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
