//! The end of a command that cannot do its work.

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
    /// The reader of the output is gone.
    BrokenPipe,
}

impl Failure {
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

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::BrokenPipe,
            _ => Failure::new(format!("the output cannot be written: {error}")),
        }
    }
}
