//! The exit code of the examples.

use std::{fmt::Display, process::ExitCode};

/// Converts a result to an exit code. Prints an error after the example's name.
pub fn report(result: Result<(), impl Display>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", env!("CARGO_CRATE_NAME"));
            ExitCode::FAILURE
        }
    }
}
