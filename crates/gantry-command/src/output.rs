//! Standard output, as text or JSON, and lines on standard error. A closed pipe at standard error does not end
//! the command.

use crate::error::{Failure, Result, output_failure};
use gantry::printable;
use serde::Serialize;
use std::{
    fmt::Display,
    io::{self, IsTerminal, Write},
    process::ExitCode,
    sync::OnceLock,
};

/// The control characters that are printed unchanged in texts. All others are escaped before they reach a terminal,
/// because names and types come from other programs.
const OF_TEXTS: [char; 2] = ['\n', '\t'];

/// The program name before each line on standard error; if it is not set, lines have no name.
static PROGRAM: OnceLock<&'static str> = OnceLock::new();

/// The form of the output.
#[derive(Clone, Copy, Debug, Default)]
pub struct Output {
    /// Whether the output is JSON, one value on each line, instead of text.
    pub json: bool,
}

impl Output {
    /// Prints a report: its `Display`, or its JSON on one line.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn print<T: Display + Serialize>(self, report: &T) -> Result<()> {
        match self.json {
            true => write_lines(&serde_json::to_string(report).map_err(Failure::new)?),
            false => write_lines(&printable(&report.to_string(), &OF_TEXTS)),
        }
    }

    /// Prints the contents of a message as [`print`](Self::print) does. In text for a file or a pipe, nothing is
    /// escaped.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn print_contents<T: Display + Serialize>(self, contents: &T) -> Result<()> {
        match self.json || io::stdout().is_terminal() {
            true => self.print(contents),
            false => write(&contents.to_string()),
        }
    }

    /// Prints a remark on the command's actions. With `--json`, prints nothing.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn remark(self, line: &str) -> Result<()> {
        if self.json { Ok(()) } else { write(&format!("{}\n", printable(line, &OF_TEXTS))) }
    }
}

/// Writes complete lines. If the text is empty, writes nothing.
fn write_lines(text: &str) -> Result<()> {
    if text.is_empty() || text.ends_with('\n') { write(text) } else { write(&format!("{text}\n")) }
}

/// Writes the text and flushes it, so that a reader of the pipe gets it without delay.
fn write(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(|error| output_failure(&error))
}

/// Sets the program name that precedes lines on standard error from now on.
pub fn name_program(name: &'static str) {
    let _ = PROGRAM.set(name);
}

/// Prints a warning or an error on standard error. On a terminal, the line overwrites a progress line.
pub fn say(line: impl Display) {
    let mut text = printable(&line.to_string(), &OF_TEXTS).to_string();
    if let Some(program) = PROGRAM.get() {
        text.insert_str(0, &format!("{program}: "));
        if io::stderr().is_terminal() {
            text.insert_str(0, "\r\x1b[K");
        }
    }
    let _ = writeln!(io::stderr(), "{text}");
}

/// The exit code of a program. Prints the sentence of a failure.
pub fn exit_code(result: Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of the pipe, such as `head`, needs no more output.
        Err(Failure::BrokenPipe) => ExitCode::SUCCESS,
        Err(Failure::Sentence(sentence)) => {
            say(sentence);
            ExitCode::FAILURE
        }
    }
}
