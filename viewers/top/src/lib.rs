//! A live table of a domain's topics and nodes, in a terminal.
//!
//! `gantry top` starts this program, `gantry-top`. Invariants:
//! - The program does not join the domain: it maps the files of processes and publishers read-only, and has no
//!   subscription, so no publisher sees it.
//! - Each number comes from the newest inspection of the domain, or is the difference between the two newest
//!   inspections. An endpoint that the previous inspection did not find has no rate.

#![forbid(unsafe_code)]
#![deny(clippy::print_stderr)] // printing panics if standard error is a closed pipe

pub mod app;
pub mod cli;
pub mod sample;
pub mod sampler;
pub mod table;
pub mod terminal;
pub mod view;
