//! Standard output, text or JSON, and lines on standard error. A closed pipe there is no reason to end.

use crate::error::{Failure, Result, output_failure};
use serde::Serialize;
use std::{
    fmt::Display,
    io::{self, IsTerminal, Write},
};

/// The form of reports.
#[derive(Clone, Copy, Debug, Default)]
pub struct Output {
    /// A JSON value a line, in place of text.
    pub json: bool,
}

impl Output {
    /// Prints a report.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn print<T: Display + Serialize>(self, report: &T) -> Result<()> {
        let mut text = match self.json {
            true => serde_json::to_string(report).map_err(Failure::new)?,
            false => report.to_string(),
        };
        if !text.ends_with('\n') {
            text.push('\n');
        }
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(|error| output_failure(&error))
    }
}

/// A line for the user, which replaces a line of [`Progress`].
pub fn say(line: impl Display) {
    let erase = if io::stderr().is_terminal() { "\r\x1b[K" } else { "" };
    let _ = writeln!(io::stderr(), "{erase}gantry-bag: {line}");
}

/// A line that is written again and again at one place of a terminal. Without a terminal there is none.
#[derive(Debug)]
pub struct Progress {
    is_terminal: bool,
}

impl Progress {
    /// A line on standard error.
    #[must_use]
    pub fn new() -> Progress {
        Progress { is_terminal: io::stderr().is_terminal() }
    }

    /// Whether there is a terminal.
    #[must_use]
    pub fn is_shown(&self) -> bool {
        self.is_terminal
    }

    /// Replaces the line.
    pub fn show(&self, line: &str) {
        if self.is_terminal {
            let mut stderr = io::stderr().lock();
            let _ = write!(stderr, "\r\x1b[K{line}").and_then(|()| stderr.flush());
        }
    }

    /// Removes the line.
    pub fn clear(&self) {
        self.show("");
    }
}

impl Default for Progress {
    fn default() -> Self {
        Progress::new()
    }
}
