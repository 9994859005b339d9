//! The failures of the program, with their exit codes. A failure is a sentence with the values and a next step.

/// A failure of the whole program.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The command is not valid: exit code 2.
    #[error("{0}")]
    Usage(String),
    /// The measurement failed: exit code 1.
    #[error("{0}")]
    Measurement(String),
    /// A process of the run was not ready in time or did not end in time, and was killed: exit code 1.
    #[error("{0}")]
    Hung(String),
    /// The measurement succeeded, but a requirement is not met or a regression is beyond its bound: exit code 3.
    #[error("{0}")]
    NotMet(String),
}

impl Failure {
    /// The exit code of the program: 1, 2 or 3.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Usage(_) => 2,
            Failure::Measurement(_) | Failure::Hung(_) => 1,
            Failure::NotMet(_) => 3,
        }
    }
}
