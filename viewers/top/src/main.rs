//! `gantry-top`: a live table of the topics and the nodes of a Gantry domain.
//!
//! The exit code is 0 (even after SIGINT or SIGTERM), 1 after an error, or 2 for wrong arguments.

#![forbid(unsafe_code)]
#![deny(clippy::print_stderr)] // printing panics if standard error is a closed pipe

use clap::Parser;
use gantry_top::cli::Cli;
use std::process::ExitCode;

fn main() -> ExitCode {
    gantry_command::name_program("gantry-top");
    gantry_command::exit_code(Cli::parse().run())
}
