//! A table of results with notes. It can be printed, written as Markdown and shown on the page.

use serde::{Deserialize, Serialize};

use super::RunResults;
use crate::{
    common::distinct,
    log::figures::Figure,
    report::tables::{markdown_table, table},
};

/// The note below a table that explains the intervals in brackets.
pub const MEANING_OF_INTERVALS: &str = "Figures are medians of the runs. The interval in brackets holds the true median \
    with 95 % or more; fewer than 6 runs have their range.";

/// A table of results.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Table {
    /// The title of the table.
    pub title: String,
    /// The rows; the first row has the headings. A row with fewer cells leaves its last columns empty.
    pub rows: Vec<Vec<String>>,
    /// The sentences below the table. The last ones explain why cells have no figures.
    pub notes: Vec<String>,
}

/// A column of a table whose rows are values of the type `T`: its heading, and the function that makes a cell.
pub type Column<T> = (&'static str, fn(&T) -> String);

impl Table {
    /// Creates a table with these columns.
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

    /// Creates a table with a row for each run, and a column for each of `conditions` and each figure. If a run has no
    /// figures, its cells have a word such as `failed` and the number of the note with the reason.
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

/// The column headings: first the conditions, then the figures.
#[must_use]
pub fn headings(conditions: &[&str], figures: &[&Figure]) -> Vec<String> {
    let figures = figures.iter().map(|figure| figure.column);
    conditions.iter().copied().chain(figures).map(str::to_owned).collect()
}

/// The suffix of a table's title, such as `, medians of 3 rounds`; empty for one round.
#[must_use]
pub fn rounds_suffix(rounds: u32) -> String {
    if rounds == 1 { String::new() } else { format!(", medians of {rounds} rounds") }
}
