//! The error of an expression that is not a valid filter for its message type.

use std::fmt;

/// The largest number of characters that an error quotes from the expression.
const QUOTED_CHARS: usize = 24;

/// An error in a filter: a sentence, and the position in the expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterError {
    /// The position, such as "column 5 of the filter, at `= 3`".
    place: String,
    sentence: String,
}

impl FilterError {
    /// Makes an error at an offset in the expression, in bytes.
    pub(super) fn at(expression: &str, offset: usize, sentence: impl Into<String>) -> Self {
        let (before, rest) = expression.split_at_checked(offset).unwrap_or((expression, ""));
        let column = before.chars().count() + 1;
        let place = match rest {
            "" => "the end of the filter".to_owned(),
            _ => format!("column {column} of the filter, at `{}`", quoted(rest)),
        };
        Self { place, sentence: sentence.into() }
    }

    /// An error of a parameter.
    pub(super) fn in_parameter(index: usize, text: &str, sentence: impl Into<String>) -> Self {
        Self { place: format!("the parameter %{index}, `{}`", quoted(text)), sentence: sentence.into() }
    }

    /// The sentence without its place.
    pub(super) fn into_sentence(self) -> String {
        self.sentence
    }
}

/// The beginning of a text for a quotation, with control characters escaped.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::new();
    for char in text.chars().take(QUOTED_CHARS) {
        if char.is_control() { quoted.extend(char.escape_default()) } else { quoted.push(char) }
    }
    quoted
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.sentence)
    }
}

impl std::error::Error for FilterError {}
