//! The results of a matrix as one table, a row a run.

use super::{Matrix, Options};
use crate::{
    experiment::{Footnotes, Table, notes_of, of_rounds},
    figures::{CPU_PER_MESSAGE, Figure, LOST, P50, P99, PEAK_MEMORY, RECEIVED_HZ},
};

/// The figures of the table.
static FIGURES: [&Figure; 6] = [&P50, &P99, &CPU_PER_MESSAGE, &PEAK_MEMORY, &RECEIVED_HZ, &LOST];

impl Matrix {
    pub(super) fn table(&self) -> Table {
        let title = match self.runs.len() {
            1 => "one run".to_owned(),
            n => format!("{n} runs"),
        } + &of_rounds(self.rounds);
        let notes = self.common().into_iter().chain(self.notes()).collect();
        Table::new(title, notes, |notes| self.rows(notes))
    }

    fn varied(&self) -> Vec<&str> {
        varied(&self.runs.iter().map(|run| &run.options).collect::<Vec<_>>())
    }

    fn rows(&self, notes: &mut Footnotes) -> Vec<Vec<String>> {
        let varied = self.varied();
        let header =
            ["contestant"].into_iter().chain(varied.iter().copied()).chain(FIGURES.iter().map(|figure| figure.column));
        let mut rows: Vec<Vec<String>> = vec![header.map(str::to_owned).collect()];
        for run in &self.runs {
            let values = varied.iter().map(|option| value(&run.options, option).unwrap_or("-").to_owned());
            let mut row: Vec<String> = std::iter::once(run.contestant.clone()).chain(values).collect();
            row.extend(run.cell.row(notes, &FIGURES));
            rows.push(row);
        }
        rows
    }

    /// The notes on the runs of each contestant.
    fn notes(&self) -> Vec<String> {
        let mut names: Vec<&str> = Vec::new();
        for run in &self.runs {
            if !names.contains(&run.contestant.as_str()) {
                names.push(&run.contestant);
            }
        }
        let of_one = |name: &str| {
            let own = self.runs.iter().filter(|run| run.contestant == name).map(|run| &run.cell);
            notes_of(name, own)
        };
        names.into_iter().flat_map(of_one).collect()
    }

    /// The options that all runs share.
    fn common(&self) -> Option<String> {
        let first = self.runs.first()?;
        let varied = self.varied();
        let same = first.options.iter().filter(|(option, _)| !varied.contains(&option.as_str()));
        let same: Vec<String> = same.map(|(option, value)| format!("{option} {value}")).collect();
        (!same.is_empty()).then(|| format!("all runs: {}", same.join(", ")))
    }
}

/// The options that differ among runs, in the order of their first appearance.
pub fn varied<'a>(runs: &[&'a Options]) -> Vec<&'a str> {
    let mut all: Vec<&str> = Vec::new();
    for (option, _) in runs.iter().copied().flatten() {
        if !all.contains(&option.as_str()) {
            all.push(option);
        }
    }
    let first = |option: &str| runs.first().and_then(|options| value(options, option));
    all.retain(|option| runs.iter().any(|options| value(options, option) != first(option)));
    all
}

/// The value of an option of a run.
pub fn value<'a>(options: &'a Options, option: &str) -> Option<&'a str> {
    options.iter().find(|(name, _)| name == option).map(|(_, value)| value.as_str())
}
