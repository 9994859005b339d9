//! A token: a piece of a line with its position. The position becomes the location of an error in the token.

use crate::error::Problem;

/// A piece of a line. `start` is the offset of `text` in the line, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'a> {
    pub(crate) text: &'a str,
    pub(crate) start: usize,
}

impl<'a> Token<'a> {
    /// Splits the token before the first character for which `cut` is true.
    pub(crate) fn split_before(self, cut: impl Fn(char) -> bool) -> (Self, Self) {
        self.split_at(self.text.find(cut).unwrap_or(self.text.len()))
    }

    /// Splits the token at `index`, which must be a character boundary.
    pub(crate) fn split_at(self, index: usize) -> (Self, Self) {
        let (before, rest) = self.text.split_at(index);
        (Self { text: before, ..self }, Self { text: rest, start: self.start + index })
    }

    /// The rest after `prefix`, if the token begins with it.
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

    /// An error that marks this token.
    pub(crate) fn problem(self, sentence: impl Into<String>) -> Problem {
        Problem { range: self.start..self.start + self.text.len(), sentence: sentence.into() }
    }
}
