//! `gantry-bag`: records topics of a Gantry domain into MCAP files, and plays them.
//!
//! Reports go to standard output, as text or, with `--json`, as JSON; remarks, warnings and errors to standard error.
//! The exit code is 0, also after SIGINT or SIGTERM, 1 after an error, 2 for wrong arguments.

#![forbid(unsafe_code)]
#![deny(clippy::print_stderr)] // it panics on a closed pipe

use clap::Parser;
use gantry_bag::{cli::Cli, error::Failure, output::say};
use std::process::ExitCode;

fn main() -> ExitCode {
    match Cli::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of the pipe has all it wants, as `head` does.
        Err(Failure::BrokenPipe) => ExitCode::SUCCESS,
        Err(Failure::Sentence(sentence)) => {
            say(sentence);
            ExitCode::FAILURE
        }
    }
}
