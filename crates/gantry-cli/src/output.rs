//! The output of a command: text as `ros2` prints it, or JSON.

use crate::error::{Failure, Result};
use serde::Serialize;
use std::{
    fmt::Display,
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
