//! Failures of functions that C calls: a return code and a sentence.

use crate::bindings::*;
use std::fmt::Display;

/// A return code other than `RMW_RET_OK`, and the sentence with the reason.
#[derive(Debug)]
pub struct Failure {
    /// The code that `rmw` documents for this failure of the function.
    pub code: rmw_ret_t,
    /// The sentence, with the values and the next step for the user.
    pub sentence: String,
}

/// A result of a function that C calls.
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

    /// `RMW_RET_UNSUPPORTED`; `what` is a subject in the plural.
    pub fn unsupported(what: &str) -> Failure {
        Failure { code: RMW_RET_UNSUPPORTED, sentence: format!("{what} are not supported by Gantry") }
    }
}

impl From<gantry::Error> for Failure {
    fn from(error: gantry::Error) -> Failure {
        Failure::error(error)
    }
}
