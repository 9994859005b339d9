//! A WebSocket server that shows a Gantry domain to Foxglove, by Foxglove's protocol.
//!
//! `gantry foxglove` starts this program, `gantry-foxglove`. Invariants:
//! - A topic has a subscription only while a viewer subscribes to it.
//! - No publisher waits for a viewer: each viewer has an outbox of bounded bytes, whose oldest messages make room for
//!   new ones, and each message that is dropped is counted.
//! - A message is copied once out of shared memory, however many viewers there are.

#![forbid(unsafe_code)]
#![deny(clippy::print_stderr)] // it panics on a closed pipe

pub mod cli;
pub mod domain;
mod lock;
pub mod outbox;
pub mod protocol;
pub mod serve;
mod threads;
pub mod viewer;
