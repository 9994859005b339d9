//! `gantry`: reads the nodes, topics, services and parameters of a running system, with the commands and the
//! output of `ros2`.
//!
//! The text is the text of `ros2`, so that scripts and habits carry over; `--json` prints the same as JSON, one
//! value on each line. Reports and remarks on the command's actions go to standard output; warnings and errors go
//! to standard error. The exit code is 0, 1 after an error, 2 for wrong arguments.

#![forbid(unsafe_code)]
#![deny(clippy::print_stderr)] // it panics on a closed pipe

mod absent;
mod bridge;
mod cli;
mod doctor;
mod domain;
mod interface;
mod known_types;
mod names;
mod node;
mod number;
mod param;
mod program;
mod qos;
mod service;
mod session;
mod topic;

use std::process::ExitCode;

fn main() -> ExitCode {
    gantry_command::exit_code(cli::Cli::parse_or_exit().run())
}
