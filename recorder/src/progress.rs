//! The progress line on a terminal.

use std::io::{self, IsTerminal, Write};

/// A line on a terminal. Each update overwrites it. If standard error is no terminal, nothing is written.
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
