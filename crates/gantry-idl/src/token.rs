//! A piece of a line that remembers where it stands.
//!
//! The parser cuts lines into tokens; whatever is wrong with one becomes a `Problem` with its place.

use crate::error::Problem;

/// `text` begins at byte `start` of its line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'a> {
    pub(crate) text: &'a str,
    pub(crate) start: usize,
}

impl<'a> Token<'a> {
    /// Cuts at the first character that fits: what is before it, and the rest from it on.
    pub(crate) fn split_before(self, cut: impl Fn(char) -> bool) -> (Self, Self) {
        self.split_at(self.text.find(cut).unwrap_or(self.text.len()))
    }

    /// `index` is where a character begins, or the end.
    pub(crate) fn split_at(self, index: usize) -> (Self, Self) {
        let (before, rest) = self.text.split_at(index);
        (Self { text: before, ..self }, Self { text: rest, start: self.start + index })
    }

    /// What follows `prefix`, if it begins with that.
    pub(crate) fn strip_prefix(self, prefix: &str) -> Option<Self> {
        self.text.strip_prefix(prefix).map(|text| Self { text, start: self.start + prefix.len() })
    }

    pub(crate) fn strip_suffix(self, suffix: &str) -> Option<Self> {
        self.text.strip_suffix(suffix).map(|text| Self { text, ..self })
    }

    pub(crate) fn trim(self) -> Self {
        let text = self.text.trim_start();
        Self { text: text.trim_end(), start: self.start + self.text.len() - text.len() }
    }

    /// This token is wrong.
    pub(crate) fn problem(self, sentence: impl Into<String>) -> Problem {
        Problem { range: self.start..self.start + self.text.len(), sentence: sentence.into() }
    }
}
