//! The end of each example's `main`.

use std::{fmt::Display, process::ExitCode};

/// The exit code of a result; prints an error after the example's name.
pub fn report(result: Result<(), impl Display>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", env!("CARGO_CRATE_NAME"));
            ExitCode::FAILURE
        }
    }
}
