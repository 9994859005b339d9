//! The real program in real processes, started as users start it.
//!
//! Every test has its own shared memory folder and checks that no file is left in it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod command_line;
mod ends;
mod footprint;
mod kills;
mod logs;
mod messages;
mod mock;
mod parser;
mod program;
mod runs;
mod system;
mod terminal;
