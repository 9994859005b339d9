//! Gantry's recorder: records topics to MCAP files, and plays these files.
//!
//! The program is `gantry-bag`; the command `gantry bag` starts it. Invariants:
//! - A publisher never waits for the recorder, and never lacks memory because of it: the number and the duration of
//!   pinned samples are limited. A message that the recorder does not take in time leaves the publisher's history and
//!   is counted as missing.
//! - A file contains a message completely or not at all. Each missing message is counted, and the counts are written
//!   into the file.
//! - A file without its end, such as after a crash, can be read up to its last complete record.

#![forbid(unsafe_code)]
#![deny(clippy::print_stderr)] // `eprintln!` panics if standard error is a closed pipe

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
