//! Gantry's recorder: topics to MCAP files without copying the messages, and back.
//!
//! The program is `gantry-bag`; `gantry bag` starts this program. Invariants:
//! - A publisher never waits for the recorder, and never runs out of memory because of it: the number and the
//!   duration of pins are bounded, and a message that the recorder does not take in time leaves the publisher's
//!   history and is counted.
//! - A message is in a file whole or not at all. Each missing message is counted, and the counts are written into
//!   the file.
//! - A file without its end is read up to its last whole record.

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
