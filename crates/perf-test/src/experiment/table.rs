//! The results of an experiment as tables with notes, on the terminal and in Markdown.

use serde::Serialize;

use super::End;
use crate::{
    batch::Batch,
    error::Failure,
    report::tables::{markdown_table, table},
    units::format_rate,
};

/// The results of an experiment as its user sees them.
#[derive(Debug)]
pub struct Results {
    /// The heading of the Markdown.
    pub(super) heading: &'static str,
    pub(super) tables: Vec<Table>,
    pub(super) end: End,
}

/// A titled table; below it are notes, the last of them the reasons of cells without figures.
#[derive(Debug)]
pub(super) struct Table {
    title: String,
    rows: Vec<Vec<String>>,
    notes: Vec<String>,
}

/// The sentences below a table, each once.
#[derive(Debug, Default)]
pub(super) struct Footnotes(Vec<String>);

impl Results {
    /// The reason why the experiment is not complete, for the exit code.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.end.failure()
    }

    /// The results as lines of text.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let tables: Vec<Vec<String>> = self.tables.iter().map(Table::lines).collect();
        tables.join(&String::new())
    }

    /// Writes `NAME.json`, which has `value`, and `NAME.md` into the folder of results.
    pub(super) fn write(&self, batch: &Batch, name: &str, value: &impl Serialize) -> Result<(), Failure> {
        let Some(folder) = batch.folder() else { return Ok(()) };
        folder.write_json(&format!("{name}.json"), value).map_err(Failure::Measurement)?;
        let sections = self.tables.iter().map(|table| format!("\n{}\n", table.markdown().join("\n")));
        let markdown = format!("# {}\n{}", self.heading, sections.collect::<String>());
        folder.write(&format!("{name}.md"), &markdown).map_err(Failure::Measurement)?;
        Ok(())
    }
}

impl Table {
    /// A table whose rows number their sentences themselves.
    pub fn new(title: String, notes: Vec<String>, rows: impl FnOnce(&mut Footnotes) -> Vec<Vec<String>>) -> Table {
        let mut footnotes = Footnotes::default();
        let rows = rows(&mut footnotes);
        Table { title, rows, notes: notes.into_iter().chain(footnotes.lines()).collect() }
    }

    /// As lines of text.
    pub fn lines(&self) -> Vec<String> {
        [table(&self.title, &self.rows), self.notes.clone()].concat()
    }

    /// As a section of Markdown.
    pub fn markdown(&self) -> Vec<String> {
        let mut lines = vec![format!("## {}", self.title), String::new()];
        lines.extend(markdown_table(&self.rows));
        if !self.notes.is_empty() {
            lines.push(String::new());
        }
        lines.extend(self.notes.iter().map(|note| format!("- {note}")));
        lines
    }
}

impl Footnotes {
    /// The number of a sentence, from 1.
    pub fn number(&mut self, sentence: &str) -> usize {
        let found = self.0.iter().position(|other| other == sentence);
        found.unwrap_or_else(|| {
            self.0.push(sentence.to_owned());
            self.0.len() - 1
        }) + 1
    }

    fn lines(&self) -> impl Iterator<Item = String> {
        self.0.iter().enumerate().map(|(index, sentence)| format!("[{}] {sentence}", index + 1))
    }
}

/// The end of a title: `, medians of 3 rounds`; empty for one round.
pub(super) fn of_rounds(rounds: u32) -> String {
    if rounds == 1 { String::new() } else { format!(", medians of {rounds} rounds") }
}

/// The end of a title: `, 100 Hz, medians of 3 rounds`.
pub(super) fn at_rate(rate_hz: u32, rounds: u32) -> String {
    format!(", {}{}", format_rate(rate_hz), of_rounds(rounds))
}
