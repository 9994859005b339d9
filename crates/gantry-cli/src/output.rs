//! The output of a command: text as `ros2` prints it, or JSON.

use crate::error::{Failure, Result};
use gantry::printable;
use serde::Serialize;
use std::{
    fmt::{self, Display},
    io::{self, IsTerminal, Write},
};

/// The control characters that are allowed in texts of several lines. No other control character reaches a terminal:
/// names and types come from other programs.
const OF_TEXTS: [char; 2] = ['\n', '\t'];

/// The form of the output.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// JSON, a value a line, instead of text.
    pub json: bool,
}

impl Output {
    /// Prints a report: its `Display`, whose lines are complete, or its JSON in one line.
    pub fn print<T: Display + Serialize>(self, report: &T) -> Result<()> {
        if self.json { write(&json(report)?) } else { write(&printable(&report.to_string(), &OF_TEXTS)) }
    }

    /// Prints the contents of a message, as [`print`](Self::print); a file or a pipe gets them as they are.
    pub fn print_contents<T: Display + Serialize>(self, contents: &T) -> Result<()> {
        match self.json || io::stdout().is_terminal() {
            true => self.print(contents),
            false => write(&contents.to_string()),
        }
    }

    /// Prints a line that says what the command does. With `--json` it prints nothing.
    pub fn remark(self, line: &str) -> Result<()> {
        if self.json { Ok(()) } else { write(&format!("{}\n", printable(line, &OF_TEXTS))) }
    }
}

/// Prints a line on standard error: a warning or an error. A closed pipe there ends no command.
pub fn print_error(line: impl Display) {
    let _ = writeln!(io::stderr(), "{}", printable(&line.to_string(), &OF_TEXTS));
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
            Names::List(names) => names.iter().try_for_each(|name| writeln!(f, "{}", printable(name, &[]))),
        }
    }
}

/// The value as one line.
fn json<T: Serialize>(value: &T) -> Result<String> {
    let mut line = serde_json::to_string(value).map_err(Failure::new)?;
    line.push('\n');
    Ok(line)
}

/// Each message is written at once, so that a reader of the pipe has it without delay.
fn write(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()?;
    Ok(())
}
