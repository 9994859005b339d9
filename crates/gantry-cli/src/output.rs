//! The output of a command: text as `ros2` prints it, or JSON.

use crate::error::{Failure, Result};
use serde::Serialize;
use std::{
    fmt::{self, Display},
    io::{self, Write},
};

/// The form of the output.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// JSON, a value a line, instead of text.
    pub json: bool,
}

impl Output {
    /// Prints a report: its `Display`, whose lines are complete, or its JSON in one line.
    pub fn print<T: Display + Serialize>(self, report: &T) -> Result<()> {
        let text = if self.json { json(report)? } else { report.to_string() };
        write(&text)
    }

    /// Prints a line that says what the command does; not among JSON.
    pub fn remark(self, line: &str) -> Result<()> {
        if self.json { Ok(()) } else { write(&format!("{line}\n")) }
    }
}

/// Prints a line on standard error: a warning or an error. A closed pipe there ends no command.
pub fn print_error(line: impl Display) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Names, one a line, or only their number.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Names {
    Count(usize),
    List(Vec<String>),
}

impl Names {
    pub fn new(names: Vec<String>, only_count: bool) -> Names {
        if only_count { Names::Count(names.len()) } else { Names::List(names) }
    }
}

impl Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Names::Count(count) => writeln!(f, "{count}"),
            Names::List(names) => names.iter().try_for_each(|name| writeln!(f, "{name}")),
        }
    }
}

/// The value as one line.
fn json<T: Serialize>(value: &T) -> Result<String> {
    let mut line = serde_json::to_string(value).map_err(Failure::new)?;
    line.push('\n');
    Ok(line)
}

/// Writes at once, so that a reader of the pipe has each message when it comes.
fn write(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()?;
    Ok(())
}
