//! The program, from arguments to exit code. A failure is printed here, once, as a sentence on standard error.

use std::{ffi::OsString, io::Write, process::ExitCode};

use clap::Parser;
use gantry::printable;
use perf_test::{experiments::results_file::Results, run::coordinator::daemon::become_daemon};

use crate::{
    cli::{Cli, Command},
    latency, memory, recovery, throughput,
};

/// Runs the program: 0 good, 1 the measurement failed, 2 wrong usage.
#[must_use]
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Fails only if the console has gone.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let done = match cli.command {
        Command::Memory(options) => memory::measure(&options),
        Command::Throughput(options) => throughput::measure(&options),
        Command::Latency(options) => latency::measure(&options),
        Command::Recovery(options) => recovery::measure(&options),
        Command::Daemon { parent, command } => Err(become_daemon(parent, &command)),
    };
    match done.and_then(Results::print) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let sentence = failure.to_string(); // it may have texts of files and of other programs
            let _ = writeln!(std::io::stderr().lock(), "perf_micro: {}", printable(&sentence, &['\n', '\t']));
            ExitCode::from(failure.exit_code())
        }
    }
}
