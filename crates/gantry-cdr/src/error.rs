//! Errors in bytes and shapes. An error is displayed as a sentence with the path of the field and the offset.

#[cfg(feature = "error-paths")]
use alloc::{boxed::Box, format, string::String};
use core::fmt;

/// A defect in bytes or in a shape.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The bytes to read, or the memory to write to, are too short.
    #[error("{needed_bytes} bytes are needed and {left_bytes} are left")]
    TooShort {
        /// The bytes that the field needs.
        needed_bytes: usize,
        /// The bytes that are left.
        left_bytes: usize,
    },
    /// The memory is longer than the message that is built in it.
    #[error("{bytes} bytes of the memory follow the message; it must have exactly the message's length")]
    TooLong {
        /// The number of bytes after the message.
        bytes: usize,
    },
    /// The length of a sequence or text is above its bound.
    #[error("its length is {length} and may be {bound}")]
    AboveBound {
        /// The number of elements, or the number of bytes or UTF-16 units of a text.
        length: usize,
        /// The largest length that the definition allows.
        bound: usize,
    },
    /// A text, sequence or list has another length than at the time when the message was built.
    #[error("its length is {length} and was fixed as {expected} when the message was built")]
    OtherLength {
        /// The given length.
        length: usize,
        /// The length at the time when the message was built.
        expected: usize,
    },
    /// A boolean that is neither 0 nor 1.
    #[error("a boolean is {value}; it may be 0 or 1")]
    NotBoolean {
        /// The value of the byte.
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
    /// The body is not 8-byte aligned.
    #[error("the body is not 8-byte aligned; copy it to `AlignedBytes`")]
    NotAligned,
    /// An encapsulation other than CDR.
    #[error(
        "the encapsulation is {0:02x} {1:02x}; 00 00 (CDR, big endian) and 00 01 (CDR, little endian) can be read, the former by copying only"
    )]
    Encapsulation(u8, u8),
    /// The struct does not support the other byte order.
    #[error("the struct was not generated and cannot swap the bytes of its numbers, so it cannot be read big endian")]
    OtherByteOrder,
    /// The message is larger than 4 GiB.
    #[error("the message is larger than 4 GiB")]
    TooLarge,
}

/// A problem, with the path of the field and the offset. Without the feature `error-paths`, an error has no path and
/// allocates nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct Error(#[cfg(feature = "error-paths")] Box<Details>, #[cfg(not(feature = "error-paths"))] Details);

#[derive(Clone, PartialEq, Eq)]
struct Details {
    problem: Problem,
    offset_bytes: usize,
    #[cfg(feature = "error-paths")]
    path: String,
    /// The name of the message's type; empty if it is not known.
    type_name: &'static str,
}

/// A result of this crate.
pub type Result<T> = core::result::Result<T, Error>;

#[cfg(feature = "error-paths")]
impl Error {
    /// Makes an error for `problem` at `offset_bytes` from the start of the body.
    #[cold]
    #[must_use]
    pub fn new(problem: Problem, offset_bytes: usize) -> Error {
        Error(Box::new(Details { problem, offset_bytes, path: String::new(), type_name: "" }))
    }

    /// Adds the field `name` before the path of the error.
    #[cold]
    #[must_use]
    pub fn inside(mut self, name: &str) -> Error {
        let dot = if self.0.path.is_empty() || self.0.path.starts_with('[') { "" } else { "." };
        self.0.path = format!("{name}{dot}{}", self.0.path);
        self
    }

    /// Adds the index of a list element before the path of the error.
    #[cold]
    #[must_use]
    pub fn inside_element(self, index: usize) -> Error {
        self.inside(&format!("[{index}]"))
    }

    /// The path of the field, such as `fields[2].name`. The path is empty if the error concerns the whole message.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.0.path
    }
}

#[cfg(not(feature = "error-paths"))]
impl Error {
    /// Makes an error for `problem` at `offset_bytes` from the start of the body.
    #[cold]
    #[must_use]
    pub fn new(problem: Problem, offset_bytes: usize) -> Error {
        Error(Details { problem, offset_bytes, type_name: "" })
    }

    /// Returns the error unchanged, because without the feature `error-paths`, an error has no path.
    #[must_use]
    pub fn inside(self, _name: &str) -> Error {
        self
    }

    /// Returns the error unchanged, because without the feature `error-paths`, an error has no path.
    #[must_use]
    pub fn inside_element(self, _index: usize) -> Error {
        self
    }

    /// An empty text, because without the feature `error-paths`, an error has no path.
    #[must_use]
    pub fn path(&self) -> &str {
        ""
    }
}

impl Error {
    /// Adds the type of the message to the error.
    #[cold]
    #[must_use]
    pub fn in_type(mut self, type_name: &'static str) -> Error {
        self.0.type_name = type_name;
        self
    }

    /// The problem.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.0.problem
    }

    /// The name of the message's type, with which the displayed path begins; empty if it is not known.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        self.0.type_name
    }

    /// The offset of the error from the start of the body.
    #[must_use]
    pub fn offset_bytes(&self) -> usize {
        self.0.offset_bytes
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, type_name) = (self.path(), self.type_name());
        match (path, type_name) {
            ("", type_name) => f.write_str(type_name)?,
            (path, "") => write!(f, "`{path}`")?,
            (path, type_name) => write!(f, "`{path}` of {type_name}")?,
        }
        let has_place = !(path.is_empty() && type_name.is_empty());
        match self.problem() {
            // No offset is displayed, because the caller's values are wrong, not the bytes.
            Problem::OtherLength { .. } => f.write_str(if has_place { ": " } else { "" })?,
            _ => write!(f, "{}at byte {}: ", if has_place { " " } else { "" }, self.offset_bytes())?,
        }
        self.problem().fmt(f)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({self})")
    }
}

impl core::error::Error for Error {}
