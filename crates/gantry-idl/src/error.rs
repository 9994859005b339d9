//! Errors in definitions. Each error has its location, and all errors are reported at once.
//!
//! `Display` of [`Error`] writes one line, `path:line:column: sentence`. `Display` of [`Errors`] also writes each
//! source line, with carets below the error. Inside the crate, a [`Problem`] is an error whose location is only a range
//! of bytes in a line.

use std::{fmt, ops::Range};

/// One error in a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The location of the error.
    pub location: Location,
    /// A sentence that states the error and how to correct it.
    pub sentence: String,
}

/// A part of a line of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// The path of the file. If the text does not come from a file, the name of the type. Empty if there is neither.
    pub path: String,
    /// The line, from 1; 0 if the error concerns the whole file.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The length in characters.
    pub length: usize,
    /// The whole source line; empty if it is longer than 500 bytes.
    pub source_line: String,
}

/// All errors, ordered by file and line. There is at least one.
#[derive(Clone, PartialEq, Eq)]
pub struct Errors(Vec<Error>);

/// The largest length of a source line in bytes, and of a sentence in characters. In an error, a longer source line is
/// omitted, and a longer sentence is cut off.
const LENGTH_LIMIT: usize = 500;

/// An error, and the range of its bytes in a line.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) range: Range<usize>,
    pub(crate) sentence: String,
}

/// A list of errors up to a limit. Further errors are dropped, because they would not help the reader.
#[derive(Debug)]
pub(crate) struct Report {
    errors: Vec<Error>,
    limit: usize,
}

impl Location {
    pub(crate) fn file(path: impl fmt::Display) -> Self {
        Self { path: path.to_string(), ..Self::default() }
    }

    /// The location of the bytes `range` in `text`, which is line `line` of `path`.
    pub(crate) fn in_line(path: &str, line: usize, text: &str, range: Range<usize>) -> Self {
        let before = text.get(..range.start).unwrap_or_default();
        let marked = text.get(range).unwrap_or_default();
        Self {
            path: path.to_owned(),
            line,
            column: before.chars().count() + 1,
            length: marked.chars().count().max(1),
            // Control characters are replaced and long lines omitted, because a text from another process must not
            // control or fill a terminal.
            source_line: if text.len() > LENGTH_LIMIT { String::new() } else { text.replace(char::is_control, " ") },
        }
    }

    pub(crate) fn error(self, mut sentence: String) -> Error {
        if let Some((end, _)) = sentence.char_indices().nth(LENGTH_LIMIT) {
            sentence.truncate(end);
            sentence.push('…');
        }
        Error { location: self, sentence }
    }
}

impl Report {
    /// A report that keeps the first `limit` errors.
    pub(crate) fn new(limit: usize) -> Self {
        Self { errors: Vec::new(), limit }
    }

    pub(crate) fn push(&mut self, error: Error) {
        if !self.is_full() {
            self.errors.push(error);
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.errors.len() >= self.limit
    }

    /// `Ok` if the report is empty.
    pub(crate) fn into_result(mut self) -> Result<(), Errors> {
        if self.errors.is_empty() {
            return Ok(());
        }
        self.errors.sort_by(|a, b| (&a.location.path, a.location.line).cmp(&(&b.location.path, b.location.line)));
        Err(Errors(self.errors))
    }
}

impl Errors {
    /// Iterates over the errors.
    pub fn iter(&self) -> std::slice::Iter<'_, Error> {
        self.0.iter()
    }
}

impl<'a> IntoIterator for &'a Errors {
    type Item = &'a Error;
    type IntoIter = std::slice::Iter<'a, Error>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl From<Error> for Errors {
    fn from(error: Error) -> Self {
        Self(vec![error])
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Location { path, line, column, .. } = &self.location;
        if !path.is_empty() {
            write!(f, "{path}:")?;
            if *line > 0 {
                write!(f, "{line}:{column}:")?;
            }
            f.write_str(" ")?;
        }
        f.write_str(&self.sentence)
    }
}

/// `Debug` is the same as `Display`, because cargo shows `Debug` when `main` of a build script returns the errors.
impl fmt::Debug for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the messages cannot be compiled\n\n{self}\n")
    }
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n\n")?;
            }
            error.fmt(f)?;
            let Location { line, column, length, source_line, .. } = &error.location;
            if !source_line.is_empty() {
                let margin = line.to_string().len();
                write!(f, "\n{:margin$} |\n{line} | {source_line}\n{:margin$} | ", "", "")?;
                write!(f, "{}{}", " ".repeat(column - 1), "^".repeat(*length))?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Error {}
impl std::error::Error for Errors {}
