//! A table of results with its notes, for the terminal, Markdown and the page.

use serde::{Deserialize, Serialize};

use crate::{
    log::figures::Figure,
    report::tables::{markdown_table, table},
};

/// A table.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Table {
    /// Its title.
    pub title: String,
    /// Its rows, the first of which has the headings. A short row has no further cells.
    pub rows: Vec<Vec<String>>,
    /// The sentences below it, the last of them the reasons of cells without figures.
    pub notes: Vec<String>,
}

/// The sentences below a table, each once.
#[derive(Debug, Default)]
pub struct Footnotes(Vec<String>);

impl Table {
    /// A table whose rows number their sentences themselves.
    #[must_use]
    pub fn new(title: String, notes: Vec<String>, rows: impl FnOnce(&mut Footnotes) -> Vec<Vec<String>>) -> Table {
        let mut footnotes = Footnotes::default();
        let rows = rows(&mut footnotes);
        Table { title, rows, notes: notes.into_iter().chain(footnotes.lines()).collect() }
    }

    /// As lines of text.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        [table(&self.title, &self.rows), self.notes.clone()].concat()
    }

    /// As a section of Markdown.
    #[must_use]
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

/// The headings of columns: of conditions, and of figures.
#[must_use]
pub fn headings(conditions: &[&str], figures: &[&Figure]) -> Vec<String> {
    let figures = figures.iter().map(|figure| figure.column);
    conditions.iter().copied().chain(figures).map(str::to_owned).collect()
}

/// The end of a title: `, medians of 3 rounds`; empty for one round.
#[must_use]
pub fn of_rounds(rounds: u32) -> String {
    if rounds == 1 { String::new() } else { format!(", medians of {rounds} rounds") }
}
