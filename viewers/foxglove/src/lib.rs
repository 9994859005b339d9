//! A WebSocket server that shows a Gantry domain to Foxglove with Foxglove's protocol.
//!
//! `gantry foxglove` starts this program, `gantry-foxglove`. Invariants:
//! - The server subscribes to a topic only while a viewer subscribes to it.
//! - No publisher waits for a viewer. Each viewer has an outbox with a bounded number of bytes: when it is full, its
//!   oldest messages are dropped and counted.
//! - A message is copied at most once out of shared memory, however many viewers there are; not at all while all
//!   viewers of a topic that is not latched are stalled, except for the newest message.

#![forbid(unsafe_code)]
#![deny(clippy::print_stderr)] // printing panics if standard error is a closed pipe

pub mod cli;
pub mod domain;
mod lock;
pub mod outbox;
pub mod protocol;
pub mod serve;
mod threads;
pub mod viewer;
