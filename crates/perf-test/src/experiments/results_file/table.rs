//! A table of results with notes, for the terminal, for Markdown and for the page.

use serde::{Deserialize, Serialize};

use super::RunResults;
use crate::{
    common::distinct,
    log::figures::Figure,
    report::tables::{markdown_table, table},
};

/// The note that explains the numbers in brackets.
pub const MEANING_OF_INTERVALS: &str = "Figures are medians of the runs. The interval in brackets holds the true median \
    with 95 % or more; fewer than 6 runs have their range.";

/// A table.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Table {
    /// The title of the table.
    pub title: String,
    /// The rows; the first one has the headings. A short row has no cells in the last columns.
    pub rows: Vec<Vec<String>>,
    /// The sentences below the table. The last ones are the reasons why cells have no figures.
    pub notes: Vec<String>,
}

/// A column of a table that has a row for each `T`: the heading, and the function that writes a cell.
pub type Column<T> = (&'static str, fn(&T) -> String);

impl Table {
    /// A table with these columns.
    #[must_use]
    pub fn of_columns<'a, T: 'a>(
        title: String,
        notes: Vec<String>,
        columns: &[Column<T>],
        rows: impl IntoIterator<Item = &'a T>,
    ) -> Table {
        let head = columns.iter().map(|(heading, _)| (*heading).to_owned()).collect();
        let row = |of| columns.iter().map(|(_, cell)| cell(of)).collect();
        Table { title, rows: [head].into_iter().chain(rows.into_iter().map(row)).collect(), notes }
    }

    /// Makes a table with a row for each kind of run: a column for each of `conditions`, and a column for each figure.
    /// The cells of a run without figures have one word, such as `failed`, and the number of the note that gives the
    /// reason.
    #[must_use]
    pub fn of_runs<'a>(
        title: String,
        mut notes: Vec<String>,
        conditions: &[&str],
        figures: &[&Figure],
        runs: impl IntoIterator<Item = (Vec<String>, &'a RunResults)>,
    ) -> Table {
        let runs: Vec<(Vec<String>, &RunResults)> = runs.into_iter().collect();
        let missing =
            runs.iter().filter(|(_, run)| run.medians.is_none()).filter_map(|(_, run)| run.shortfall.as_ref());
        let sentences = distinct(missing.map(|shortfall| shortfall.sentence.as_str()));
        notes.extend(sentences.iter().zip(1..).map(|(sentence, number)| format!("[{number}] {sentence}")));
        let mut rows = vec![headings(conditions, figures)];
        for (mut row, run) in runs {
            match (&run.medians, &run.shortfall) {
                (Some(_), _) => row.extend(figures.iter().map(|figure| run.show(figure))),
                (None, Some(shortfall)) => {
                    let number = sentences.iter().zip(1..).find(|(sentence, _)| **sentence == shortfall.sentence);
                    row.push(format!("{} [{}]", shortfall.kind, number.map_or(0, |(_, number)| number)));
                }
                (None, None) => row.push("not done".to_owned()),
            }
            rows.push(row);
        }
        Table { title, rows, notes }
    }

    /// The table as lines of text.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        [table(&self.title, &self.rows), self.notes.clone()].concat()
    }

    /// The table as a section of Markdown.
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

/// The headings of the columns: first the conditions, then the figures.
#[must_use]
pub fn headings(conditions: &[&str], figures: &[&Figure]) -> Vec<String> {
    let figures = figures.iter().map(|figure| figure.column);
    conditions.iter().copied().chain(figures).map(str::to_owned).collect()
}

/// The end of a table's title: `, medians of 3 rounds`; empty for one round.
#[must_use]
pub fn of_rounds(rounds: u32) -> String {
    if rounds == 1 { String::new() } else { format!(", medians of {rounds} rounds") }
}
