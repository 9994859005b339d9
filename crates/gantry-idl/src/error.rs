//! What is wrong with definitions: everything in one go, each with its place.
//!
//! `Display` of [`Error`] is one line, `path:line:column: sentence`; of [`Errors`] each of these with the line it speaks
//! of and a caret below.

use std::fmt;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The file, or the name of the type if the text came from elsewhere; empty if there is no place.
    pub path: String,
    /// From 1; 0 if the error is of the file as a whole.
    pub line: usize,
    /// In characters, from 1; 0 as for `line`.
    pub column: usize,
    /// What is wrong, and what to do.
    pub sentence: String,
    /// The line it speaks of; empty if there is none.
    pub source_line: String,
    /// How many characters from `column` on it speaks of.
    pub length: usize,
}

/// All that is wrong, in the order of files and lines. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Errors(Vec<Error>);

impl Error {
    /// An error that is in no file.
    pub(crate) fn without_place(sentence: String) -> Self {
        Self { path: String::new(), line: 0, column: 0, sentence, source_line: String::new(), length: 0 }
    }
}

impl Errors {
    /// Each of them.
    pub fn iter(&self) -> std::slice::Iter<'_, Error> {
        self.0.iter()
    }
}

impl From<Error> for Errors {
    fn from(error: Error) -> Self {
        Self(vec![error])
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}:", self.path)?;
            if self.line > 0 {
                write!(f, "{}:{}:", self.line, self.column)?;
            }
            f.write_str(" ")?;
        }
        f.write_str(&self.sentence)
    }
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            error.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}
impl std::error::Error for Errors {}
