//! What can be wrong with bytes or with a shape: a sentence with the field's path and the offset.

use alloc::{boxed::Box, format, string::String};
use core::fmt;

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The bytes end too early, or the memory to write to does.
    #[error("{needed_bytes} bytes are needed and {left_bytes} are left")]
    TooShort {
        /// What the field needs.
        needed_bytes: usize,
        /// What there is.
        left_bytes: usize,
    },
    /// More than what may follow a message.
    #[error("{bytes} bytes follow the message")]
    TooLong {
        /// How many.
        bytes: usize,
    },
    /// A sequence or text above its bound.
    #[error("its length is {length} and may be {bound}")]
    AboveBound {
        /// Elements, or characters.
        length: usize,
        /// What the definition allows.
        bound: usize,
    },
    /// A list whose length was fixed when the message was built.
    #[error("its length is {length} and was fixed as {expected} when the message was built")]
    OtherLength {
        /// What was given.
        length: usize,
        /// What there is room for.
        expected: usize,
    },
    /// A boolean that is neither 0 nor 1.
    #[error("a boolean is {value}; it may be 0 or 1")]
    NotBoolean {
        /// The byte.
        value: u8,
    },
    /// A text that is not UTF-8.
    #[error("its text is not UTF-8")]
    NotUtf8,
    /// A wide text that is not UTF-16.
    #[error("its text is not UTF-16")]
    NotUtf16,
    /// A text whose last byte is not 0.
    #[error("its text does not end in 0")]
    NotTerminated,
    /// The body does not lie 8-byte aligned.
    #[error("the body is not 8-byte aligned; copy it to `AlignedBytes`")]
    NotAligned,
    /// An encapsulation other than CDR.
    #[error(
        "the encapsulation is {0:02x} {1:02x}; 00 00 (CDR, big endian) and 00 01 (CDR, little endian) can be read, the former by copying only"
    )]
    Encapsulation(u8, u8),
    /// A struct that cannot be read in the other byte order.
    #[error("the struct was not generated and does not know its numbers, so it cannot be read big endian")]
    OtherByteOrder,
    /// More than 4 GiB.
    #[error("the message is larger than 4 GiB")]
    TooLarge,
}

/// A problem and where it is.
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Place>);

#[derive(Clone, PartialEq, Eq)]
struct Place {
    problem: Problem,
    offset_bytes: usize,
    path: String,
}

/// A result of this crate.
pub type Result<T> = core::result::Result<T, Error>;

impl Error {
    /// `problem` at an offset from the start of the body.
    #[cold]
    #[must_use]
    pub fn new(problem: Problem, offset_bytes: usize) -> Error {
        Error(Box::new(Place { problem, offset_bytes, path: String::new() }))
    }

    /// The same, said from outside of the field `name`.
    #[cold]
    #[must_use]
    pub fn inside(mut self, name: &str) -> Error {
        let dot = if self.0.path.is_empty() || self.0.path.starts_with('[') { "" } else { "." };
        self.0.path = format!("{name}{dot}{}", self.0.path);
        self
    }

    /// The same, said from outside of a list's element.
    #[cold]
    #[must_use]
    pub fn inside_element(self, index: usize) -> Error {
        self.inside(&format!("[{index}]"))
    }

    /// What is wrong.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.0.problem
    }

    /// The path of the field, as `fields[2].name`; empty if it is the message as a whole.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// Where it is, counted from the start of the body.
    #[must_use]
    pub fn offset_bytes(&self) -> usize {
        self.0.offset_bytes
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.path.is_empty() {
            write!(f, "at byte {}: {}", self.0.offset_bytes, self.0.problem)
        } else {
            write!(f, "`{}` at byte {}: {}", self.0.path, self.0.offset_bytes, self.0.problem)
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({self})")
    }
}

impl core::error::Error for Error {}
