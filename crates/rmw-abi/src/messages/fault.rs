//! The error of a message conversion: a sentence with the path of the faulty field.

use std::fmt;

/// An error with the path of the faulty field.
#[derive(Debug)]
pub(super) struct Fault(Box<Details>);

#[derive(Debug)]
struct Details {
    /// The path of the field, such as `fields[2].name`; empty if the fault concerns the whole message.
    path: String,
    sentence: String,
}

pub(super) type Result<T> = std::result::Result<T, Fault>;

impl Fault {
    #[cold]
    pub fn new(sentence: impl fmt::Display) -> Fault {
        Fault(Box::new(Details { path: String::new(), sentence: sentence.to_string() }))
    }

    /// Adds the name of a field at the front of the path.
    #[cold]
    pub fn inside(mut self, name: &str) -> Fault {
        let dot = if self.0.path.is_empty() || self.0.path.starts_with('[') { "" } else { "." };
        self.0.path = format!("{name}{dot}{}", self.0.path);
        self
    }

    /// Adds the index of an element at the front of the path.
    #[cold]
    pub fn inside_element(self, index: usize) -> Fault {
        self.inside(&format!("[{index}]"))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Details { path, sentence } = &*self.0;
        match path.as_str() {
            "" => f.write_str(sentence),
            path => write!(f, "`{path}`: {sentence}"),
        }
    }
}
