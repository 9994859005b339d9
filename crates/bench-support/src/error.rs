//! Errors of benchmarks.

/// A sentence that can be sent to another thread.
pub type Error = Box<dyn std::error::Error + Send + Sync>;
/// A result whose error is a sentence.
pub type Result<T> = std::result::Result<T, Error>;
