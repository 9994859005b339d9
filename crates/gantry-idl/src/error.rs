//! What is wrong with definitions: everything in one go, each with its place.
//!
//! `Display` of [`Error`] is one line, `path:line:column: sentence`; of [`Errors`] each of these with the line it speaks
//! of and carets below. Inside the crate a [`Problem`] is an error whose place is still only a part of a line.

use std::fmt;
use std::ops::Range;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Where.
    pub place: Place,
    /// What is wrong, and what to do.
    pub sentence: String,
}

/// A part of a line of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The file, or the name of the type if the text came from elsewhere; empty if there is none.
    pub path: String,
    /// From 1; 0 if the error is of the file as a whole.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// How many characters from there on.
    pub length: usize,
    /// The whole line; empty if it is too long to be shown.
    pub source_line: String,
}

/// All that is wrong, by file and line. Never empty.
#[derive(Clone, PartialEq, Eq)]
pub struct Errors(Vec<Error>);

/// Longer lines are not shown, and longer sentences are cut.
const LENGTH_LIMIT: usize = 500;

/// What is wrong with a line, and in which of its bytes.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) range: Range<usize>,
    pub(crate) sentence: String,
}

/// Where errors are collected; full when more would help nobody.
#[derive(Debug)]
pub(crate) struct Report {
    errors: Vec<Error>,
    limit: usize,
}

impl Place {
    pub(crate) fn whole(path: &str) -> Self {
        Self { path: path.to_owned(), ..Self::default() }
    }

    /// The bytes `range` of `text`, which is line `line` of `path`.
    pub(crate) fn in_line(path: &str, line: usize, text: &str, range: Range<usize>) -> Self {
        let before = text.get(..range.start).unwrap_or_default();
        let spoken_of = text.get(range).unwrap_or_default();
        Self {
            path: path.to_owned(),
            line,
            column: before.chars().count() + 1,
            length: spoken_of.chars().count().max(1),
            // What came from elsewhere shall not steer a terminal, nor fill it.
            source_line: if text.len() > LENGTH_LIMIT { String::new() } else { text.replace(char::is_control, " ") },
        }
    }

    pub(crate) fn error(self, mut sentence: String) -> Error {
        if let Some((end, _)) = sentence.char_indices().nth(LENGTH_LIMIT) {
            sentence.truncate(end);
            sentence.push('…');
        }
        Error { place: self, sentence }
    }
}

impl Report {
    /// Holds `limit` errors.
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

    /// `Ok` if nothing was reported.
    pub(crate) fn into_result(mut self) -> Result<(), Errors> {
        if self.errors.is_empty() {
            return Ok(());
        }
        self.errors.sort_by(|a, b| (&a.place.path, a.place.line).cmp(&(&b.place.path, b.place.line)));
        Err(Errors(self.errors))
    }
}

impl Errors {
    /// Each of them.
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
        let Place { path, line, column, .. } = &self.place;
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

/// As `Display`: this is what cargo shows when a build script's `main` returns them.
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
            let Place { line, column, length, source_line, .. } = &error.place;
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
