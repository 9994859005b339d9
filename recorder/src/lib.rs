//! Gantry's recorder: topics to MCAP files without copying the messages, and back.
//!
//! The program `gantry-bag` is the user's side; `gantry bag` starts it. Invariants:
//! - A publisher never waits for the recorder, and never runs out of memory because of it: pins are bounded by number
//!   and time, and what the recorder does not take leaves the publisher's history, counted.
//! - A message is in a file whole or not at all, and each message that is missing is counted, in the file, too.
//! - A file without its end is read as far as it goes.

#![forbid(unsafe_code)]
#![deny(clippy::print_stderr)] // it panics on a closed pipe

pub mod cli;
pub mod convert;
pub mod describe;
pub mod import;
pub mod info;
pub mod play;
pub mod progress;
pub mod read;
pub mod record;
pub mod topics;
pub mod verify;
pub mod write;
