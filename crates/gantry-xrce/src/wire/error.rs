//! Errors in bytes: the position and the defect.

/// The result of reading or writing bytes.
pub type Result<T> = core::result::Result<T, Error>;

/// A defect in bytes that are read, or a lack of memory for bytes that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at byte {offset}: {problem}")]
pub struct Error {
    /// The position of the defect in the message, in bytes.
    pub offset: u32,
    /// The defect.
    pub problem: Problem,
}

/// A kind of defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The submessage ends too early.
    #[error("the submessage ends before the next {needed_bytes} bytes")]
    End {
        /// The bytes that the field needs.
        needed_bytes: u32,
    },
    /// The memory into which the message is written is full.
    #[error("the buffer has no room for {needed_bytes} bytes; give a larger one")]
    Room {
        /// The bytes that the field needs.
        needed_bytes: u32,
    },
    /// A boolean that is neither 0 nor 1.
    #[error("a boolean is {value}; it may be 0 or 1")]
    NotBoolean {
        /// The value of the byte.
        value: u8,
    },
    /// A text that is not UTF-8, or does not end with a zero byte.
    #[error("a text is not UTF-8 with a zero byte at its end")]
    NotText,
    /// A code with an unknown value. The bytes after it cannot be read, because the code determines their format.
    #[error("the {code} {value} is not known")]
    Unknown {
        /// The name of the code.
        code: Code,
        /// The value of the unknown code.
        value: u8,
    },
    /// A representation of a client or an agent that does not begin with the cookie `XRCE`.
    #[error("the cookie is not XRCE")]
    Cookie,
    /// A submessage whose length does not fit in its length field.
    #[error("a submessage of {bytes} bytes is longer than its length field can say (65535); send less")]
    TooLong {
        /// The number of bytes.
        bytes: u32,
    },
}

/// A code that determines how the bytes after it are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Code {
    /// The kind of an object.
    #[error("kind of object")]
    ObjectKind,
    /// The format of a representation.
    #[error("format of a representation")]
    RepresentationFormat,
    /// The format of a transport locator.
    #[error("format of a locator")]
    LocatorFormat,
}
