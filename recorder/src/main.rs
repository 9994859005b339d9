//! `gantry-bag`: records topics of a Gantry domain into MCAP files, and plays these files.
//!
//! Reports go to standard output, as text or, with `--json`, as JSON. Remarks, warnings and errors go to standard
//! error. The exit code is 0 after success, SIGINT or SIGTERM, 1 after an error, and 2 for wrong arguments.

#![forbid(unsafe_code)]
#![deny(clippy::print_stderr)] // `eprintln!` panics if standard error is a closed pipe

use clap::Parser;
use gantry_bag::cli::Cli;
use std::process::ExitCode;

fn main() -> ExitCode {
    gantry_command::name_program("gantry-bag");
    gantry_command::exit_code(Cli::parse().run())
}
