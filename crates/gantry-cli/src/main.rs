//! `gantry`: reads the nodes, topics, services and parameters of a running system, with the commands and the
//! output of `ros2`.
//!
//! The text is the same as the text of `ros2`, so that scripts continue to work. `--json` prints the same data as JSON,
//! one value per line. Reports and remarks on the command's actions go to standard output; warnings and errors go to
//! standard error. The exit code is 0 after success, 1 after an error, and 2 for wrong arguments.

#![forbid(unsafe_code)]
#![deny(clippy::print_stderr)] // `eprintln!` panics on a closed pipe

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
