//! The cells and the layout of the tables of a topology.

use crate::report::tables::widths;
use perf_worker::endpoint::EndpointPlan;

/// The text of a cell if the middleware does not report the count.
pub const NOT_COUNTED: &str = "-";
/// The number of columns that contain names. These columns are left-aligned.
const NAME_COLUMNS: usize = 2;

/// The rate of a publisher's timer as text, or `triggered` if a callback triggers the publisher.
pub fn rate(plan: &EndpointPlan) -> String {
    if !plan.triggers.is_empty() {
        return "triggered".to_owned();
    }
    format!("{}", (plan.rate_hz * 1000.0).round() / 1000.0)
}

/// Formats a table without frame lines, which suits terminals of any width and other programs. The lines of `note` and
/// an empty line follow. Returns no lines if there are no rows.
pub fn table(columns: &[&str], rows: Vec<Vec<String>>, note: &str) -> Vec<String> {
    if rows.is_empty() {
        return rows.concat();
    }
    let header: Vec<String> = columns.iter().map(|column| (*column).to_owned()).collect();
    let rows: Vec<Vec<String>> = [header].into_iter().chain(rows).collect();
    let widths = widths(&rows);
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(index, (cell, width))| match index {
            _ if index < NAME_COLUMNS => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        format!("  {}", cells.collect::<Vec<String>>().join("  ")).trim_end().to_owned()
    };
    let note = note.lines().map(|line| line.trim_end().to_owned());
    rows.iter().map(line).chain(note).chain([String::new()]).collect()
}

/// Collects the rows of a table and sorts them.
pub fn sorted(rows: impl Iterator<Item = Vec<String>>) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = rows.collect();
    rows.sort();
    rows
}
