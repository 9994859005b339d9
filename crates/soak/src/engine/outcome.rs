//! The result of a part of the run.

/// The error is a sentence for the user.
pub type Result<T> = std::result::Result<T, String>;
