//! The program, from arguments to exit code. A failure is printed here, once, as a sentence on standard error.

use std::{ffi::OsString, process::ExitCode};

use clap::Parser;
use perf_test::{
    experiments::results_file::Results,
    program::{exit_code, wrong_usage},
    run::coordinator::daemon::become_daemon,
};

use crate::{
    cli::{Cli, Command},
    latency, memory, recovery, throughput,
};

/// Runs the program. The exit code is 0 for success, 1 if the measurement failed, and 2 for wrong usage.
#[must_use]
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return wrong_usage(&error),
    };
    let done = match cli.command {
        Command::Memory(options) => memory::measure(&options),
        Command::Throughput(options) => throughput::measure(&options),
        Command::Latency(options) => latency::measure(&options),
        Command::Recovery(options) => recovery::measure(&options),
        Command::Daemon { parent, command } => Err(become_daemon(parent, &command)),
    };
    exit_code("perf_micro", done.and_then(Results::print))
}
