//! How a run of the program can fail, and the exit code that goes with it.
//!
//! Used by everything between `main` and the coordinator. A failure is a sentence with the values in
//! it and what to do next; it is printed once, by `main`.

/// A failure of the whole program.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The command asks for something that cannot be: exit code 2.
    #[error("{0}")]
    Usage(String),
    /// The command is good, the measurement failed: exit code 1.
    #[error("{0}")]
    Measurement(String),
    /// The measurement is good, and not what was required: exit code 3.
    #[error("{0}")]
    NotMet(String),
}

impl Failure {
    /// The exit code of the program: 1, 2 or 3.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Usage(_) => 2,
            Failure::Measurement(_) => 1,
            Failure::NotMet(_) => 3,
        }
    }
}
