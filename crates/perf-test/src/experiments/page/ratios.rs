//! The tables and ratios in the files of results that `perf_test` writes beside the logs.

use std::path::Path;

use serde::Deserialize;

use super::table::{Cell, PageTable, Row};
use crate::common::distinct;
use crate::experiments::results_file::{self, NO_DIFFERENCE, Ratio, TOO_FEW_ROUNDS, Table};

/// The schema of `versus.json` before that of all results.
const OLD_VERSUS: &str = "gantry.perf_test.versus/1";
/// The beginning of the schema of all results of several runs.
const OF_SEVERAL_RUNS: &str = "gantry.perf_test.";
/// The findings that are neither better nor worse, with their marks and legends.
const MARKS: [(&str, &str, &str); 2] = [
    (NO_DIFFERENCE, "○", "marks an interval that holds 1: no difference shown."),
    (TOO_FEW_ROUNDS, "?", "marks too few rounds to say."),
];
/// The figures of the columns.
const FIGURES: &str =
    "Latency is the median from send to reception, CPU the CPU time per message, memory the peak in the first case.";

/// A table for each base: a row for each contestant, a column for each figure of each case.
pub fn matrices(ratios: &[Ratio]) -> Vec<PageTable> {
    let bases = distinct(ratios.iter().map(|ratio| ratio.base.as_str()));
    let of_base = |base: &str| matrix(base, &ratios.iter().filter(|ratio| ratio.base == base).collect::<Vec<_>>());
    bases.into_iter().map(of_base).collect()
}

fn matrix(base: &str, ratios: &[&Ratio]) -> PageTable {
    let columns = distinct(ratios.iter().map(|ratio| (&ratio.case, &ratio.figure)));
    let figures = columns.iter().map(|(case, figure)| (head(case.as_deref(), figure), true));
    let row = |other: &str| {
        let found = |column| ratios.iter().find(|one| one.other == other && (&one.case, &one.figure) == column);
        let values = columns.iter().map(|column| cell(found(*column).copied()));
        Row { cells: std::iter::once(Cell::new(other)).chain(values).collect(), ..Row::default() }
    };
    PageTable {
        heads: std::iter::once((format!("{base} / contestant"), false)).chain(figures).collect(),
        rows: distinct(ratios.iter().map(|ratio| ratio.other.as_str())).into_iter().map(row).collect(),
    }
}

/// The meaning of the matrices, with the legends of their marks.
pub fn note(ratios: &[Ratio]) -> String {
    let is_there = |finding: &str| ratios.iter().any(|ratio| ratio.base_is == finding);
    let marks = MARKS.iter().filter(|(finding, ..)| is_there(finding));
    let legends = marks.map(|(_, mark, legend)| format!("{mark} {legend}"));
    let sentences = results_file::meaning(ratios).into_iter().chain([FIGURES.to_owned()]).chain(legends);
    sentences.collect::<Vec<String>>().join(" ")
}

/// A ratio with its interval and its mark; `-` without one.
fn cell(ratio: Option<&Ratio>) -> Cell {
    let Some(ratio) = ratio else { return Cell { is_pale: true, ..Cell::new("-") } };
    match MARKS.iter().find(|(finding, ..)| ratio.base_is == *finding) {
        Some((_, mark, _)) => Cell { is_pale: true, ..Cell::new(format!("{} {mark}", ratio.value())) },
        None => Cell::new(ratio.value()),
    }
}

/// The heading of a figure.
fn head(case: Option<&str>, figure: &str) -> String {
    let figure = match figure {
        "cpu" => "CPU",
        "rss" => "memory",
        other => other,
    };
    case.map_or_else(|| figure.to_owned(), |case| format!("{case} {figure}"))
}

/// A file of results of several runs.
#[derive(Debug, Deserialize)]
pub struct Found {
    /// The command that measured.
    pub command: String,
    /// The tables.
    pub tables: Vec<Table>,
    /// The ratios.
    pub ratios: Vec<Ratio>,
}

/// The tables and the ratios of a file of results of several runs; of a command whose files have none, and of those of
/// earlier versions but `versus`, nothing. `None` if it is no such file.
pub fn read(file: &Path) -> Option<Result<Found, String>> {
    #[derive(Deserialize)]
    struct Kind {
        schema: String,
    }
    #[derive(Deserialize)]
    struct OfVersus {
        ratios: Vec<Ratio>,
    }
    let bytes = std::fs::read(file).ok()?;
    let kind: Kind = serde_json::from_slice(&bytes).ok()?;
    let of = |ratios| Found { command: "compare middlewares".to_owned(), tables: Vec::new(), ratios };
    match kind.schema.as_str() {
        results_file::SCHEMA => Some(serde_json::from_slice(&bytes).map_err(|error| error.to_string())),
        OLD_VERSUS => {
            let found: Result<OfVersus, _> = serde_json::from_slice(&bytes);
            Some(found.map(|found| of(found.ratios)).map_err(|error| error.to_string()))
        }
        schema => schema.starts_with(OF_SEVERAL_RUNS).then(|| Ok(of(Vec::new()))),
    }
}
