//! The error of YAML values from which no message can be made.

use std::fmt;

/// An error in the YAML values for a message: a sentence, and the path of the field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlError {
    /// The path of the field, such as `header.stamp`; empty for the whole message.
    path: String,
    sentence: String,
}

impl YamlError {
    pub(crate) fn new(sentence: impl Into<String>) -> Self {
        Self { path: String::new(), sentence: sentence.into() }
    }

    /// Adds the name of an outer field, or the index of an element, before the path of the error.
    pub(super) fn inside(mut self, name: &str) -> Self {
        let dot = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        self.path = format!("{name}{dot}{}", self.path);
        self
    }
}

impl fmt::Display for YamlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.sentence),
            path => write!(f, "`{path}`: {}", self.sentence),
        }
    }
}

impl std::error::Error for YamlError {}
