//! The failure of a command, with a sentence for the user.

use std::{
    fmt::{self, Display},
    io,
};

/// The result of a command.
pub type Result<T> = std::result::Result<T, Failure>;

/// The reason why a command ends early.
#[derive(Debug)]
pub enum Failure {
    /// An error, for the user.
    Sentence(String),
    /// The program that reads the output has closed the pipe.
    BrokenPipe,
}

impl Failure {
    /// The failure with this sentence.
    pub fn new(sentence: impl Display) -> Failure {
        Failure::Sentence(sentence.to_string())
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Failure::Sentence(sentence) => sentence,
            Failure::BrokenPipe => "the reader of the output is gone",
        })
    }
}

impl std::error::Error for Failure {}

impl From<String> for Failure {
    fn from(sentence: String) -> Failure {
        Failure::Sentence(sentence)
    }
}

impl From<gantry::Error> for Failure {
    fn from(error: gantry::Error) -> Failure {
        Failure::new(error)
    }
}

impl From<gantry_shm::Error> for Failure {
    fn from(error: gantry_shm::Error) -> Failure {
        Failure::new(error)
    }
}

/// Adds the failed operation to a system error, as in "cannot write bag_0.mcap: No space left on device".
pub trait Context<T> {
    /// Returns the result. If it is an error, its sentence begins with `what`.
    ///
    /// # Errors
    /// The error of the result.
    fn context(self, what: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: Display> Context<T> for std::result::Result<T, E> {
    fn context(self, what: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|error| Failure::new(format!("{}: {error}", what())))
    }
}

/// The failure of a write to standard output.
pub fn output_failure(error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::BrokenPipe,
        _ => Failure::new(format!("the output cannot be written: {error}")),
    }
}
