//! The failure of a function that C calls: a return code and an error text.

use crate::bindings::*;
use std::fmt::Display;

/// A return code other than `RMW_RET_OK`, with its error text.
#[derive(Debug)]
pub struct Failure {
    /// The code that the header of `rmw` documents for this failure.
    pub code: rmw_ret_t,
    /// The error text: a sentence with the values that caused the failure, and the next step for the user.
    pub sentence: String,
}

/// The result of a function that C calls.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// `RMW_RET_ERROR`.
    pub fn error(sentence: impl Display) -> Failure {
        Failure { code: RMW_RET_ERROR, sentence: sentence.to_string() }
    }

    /// `RMW_RET_INVALID_ARGUMENT`.
    pub fn invalid(sentence: impl Display) -> Failure {
        Failure { code: RMW_RET_INVALID_ARGUMENT, sentence: sentence.to_string() }
    }

    /// `RMW_RET_INVALID_ARGUMENT` for an argument that is null.
    pub fn null(argument: &str) -> Failure {
        Failure::invalid(format_args!("the argument {argument} is null"))
    }

    /// `RMW_RET_UNSUPPORTED`. `what` is the unsupported feature, a noun in the plural.
    pub fn unsupported(what: &str) -> Failure {
        Failure { code: RMW_RET_UNSUPPORTED, sentence: format!("{what} are not supported by Gantry") }
    }
}

impl From<gantry::Error> for Failure {
    fn from(error: gantry::Error) -> Failure {
        Failure::error(error)
    }
}
