//! Code that the tests of several crates share.
//!
//! No library links this crate. Its dependencies do not use it in their tests, except the dependencies of the features
//! `messages`, `xrce` and `agent`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

#[cfg(feature = "processes")]
mod compiler;
#[cfg(feature = "messages")]
pub mod messages;
#[cfg(feature = "processes")]
mod peer;
#[cfg(feature = "processes")]
mod script;
#[cfg(feature = "processes")]
mod small_tmpfs;
#[cfg(feature = "processes")]
pub mod trap;
#[cfg(feature = "processes")]
mod trials;
mod wait;
#[cfg(feature = "xrce")]
pub mod xrce;

pub use wait::{PATIENCE, eventually};
#[cfg(feature = "processes")]
pub use {
    compiler::{built_archive, compile, missing_compiler},
    peer::{Peer, order, say, this_program},
    script::write_script,
    small_tmpfs::{in_small_tmpfs, why_no_small_tmpfs},
    trials::{Test, ignore, in_own_memory, is_ignored, run, side_by_side, trial, trials},
};
