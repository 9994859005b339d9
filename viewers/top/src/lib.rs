//! A live table of a domain's topics and nodes, in a terminal.
//!
//! The program `gantry-top` is the user's side; `gantry top` starts it. Invariants:
//! - It is no member of the domain: it maps the files of processes and publishers read-only, and has no subscription,
//!   so no publisher sees it.
//! - Each number is the difference of two looks, or the count of one. An endpoint that the last look did not count has
//!   no rate.

#![forbid(unsafe_code)]
#![deny(clippy::print_stderr)] // it panics on a closed pipe

pub mod app;
pub mod cli;
pub mod sample;
pub mod sampler;
pub mod table;
pub mod terminal;
pub mod view;
