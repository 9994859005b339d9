//! `gantry-foxglove`: shows a Gantry domain to Foxglove, over a WebSocket.
//!
//! The exit code is 0 after SIGINT or SIGTERM, 1 after an error, 2 for wrong arguments.

#![forbid(unsafe_code)]
#![deny(clippy::print_stderr)] // printing panics if standard error is a closed pipe

use clap::Parser;
use gantry_foxglove::cli::Cli;
use std::process::ExitCode;

fn main() -> ExitCode {
    gantry_command::name_program("gantry-foxglove");
    gantry_command::exit_code(Cli::parse().run())
}
