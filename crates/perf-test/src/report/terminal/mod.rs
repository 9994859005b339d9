//! The console output of a run: lines, the tables of each second, and the progress.
//!
//! On a terminal, the tables of a second replace the tables of the previous second if they fit into the window.
//! Otherwise they are appended, and only the progress below them is replaced. If standard output is no terminal, tables
//! are appended, without progress and without escape sequences.

pub(crate) mod progress;
mod row_tables;

use std::io::{self, IsTerminal, Write};

use gantry::printable;
use rustix::termios::{Winsize, tcgetwinsize};

use crate::{log::RowEntry, report::outputs::Tables};
use perf_worker::run_spec::RunSpec;
use progress::Progress;

/// The console output of a run.
#[derive(Debug)]
pub struct Terminal {
    tables: Tables,
    /// Whether the middleware counts the messages that left the history before they were taken.
    counts_overwritten: bool,
    progress: Progress,
    /// The last lines of the output, which may be replaced.
    drawn: Drawn,
}

/// The numbers of lines at the end of the output that may be replaced.
#[derive(Clone, Copy, Debug, Default)]
struct Drawn {
    /// The number of lines of tables; 0 if they did not fit into the window.
    tables: usize,
    /// The number of progress lines below the tables.
    progress: usize,
}

impl Terminal {
    /// Creates a console output of which nothing has been drawn yet.
    #[must_use]
    pub fn new(spec: &RunSpec, tables: Tables) -> Self {
        Terminal {
            tables,
            counts_overwritten: spec.capabilities.overwritten,
            progress: Progress::new(spec),
            drawn: Drawn::default(),
        }
    }

    /// Prints lines below the tables. They replace the progress.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn lines(&mut self, lines: &[String]) -> io::Result<()> {
        let mut text = up(self.drawn.progress);
        self.drawn = Drawn::default();
        text += &joined(lines);
        write(&text)
    }

    /// Draws the tables of a row and the progress. They replace the tables of the previous row if both fit into the
    /// window.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn row(&mut self, row: &RowEntry) -> io::Result<()> {
        let tables = row_tables::lines(row, self.tables, self.counts_overwritten);
        let Some(window) = window() else {
            return if tables.is_empty() { Ok(()) } else { write_lines(&tables) };
        };
        let progress: Vec<String> = self.progress.line(row, usize::from(window.ws_col)).into_iter().collect();
        let fits = fits(&window, &tables, progress.len());
        let over = self.drawn.progress + if fits { self.drawn.tables } else { 0 };
        let mut text = up(over);
        for line in tables.iter().chain(&progress) {
            text.extend([line, "\n"]);
        }
        self.drawn = Drawn { tables: if fits { tables.len() } else { 0 }, progress: progress.len() };
        write(&text)
    }
}

/// Escape sequences that move the cursor up by `lines` and clear the screen below.
fn up(lines: usize) -> String {
    if lines > 0 { format!("\x1b[{lines}F\x1b[J") } else { String::new() }
}

/// Prints lines to standard output with one write.
///
/// # Errors
/// Standard output cannot be written.
pub fn write_lines(lines: &[String]) -> io::Result<()> {
    write(&joined(lines))
}

/// The lines as one text. Control characters are escaped, because names come from topology files and the command line.
fn joined(lines: &[String]) -> String {
    lines.iter().flat_map(|line| [printable(line, &['\n', '\t']), "\n".into()]).collect()
}

fn write(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// The size of the terminal window; `None` if standard output is no terminal.
fn window() -> Option<Winsize> {
    let stdout = io::stdout();
    if stdout.is_terminal() { tcgetwinsize(&stdout).ok() } else { None }
}

fn fits(window: &Winsize, lines: &[String], more: usize) -> bool {
    let widest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    lines.len() + more < usize::from(window.ws_row) && widest <= usize::from(window.ws_col)
}
