//! The cells of the tables of a topology's run, and their layout.

use crate::{common::units::format_ns, log::Spread, measure::percentiles::has_tail_samples};
use perf_worker::endpoint::EndpointPlan;

/// A count that the middleware does not have.
pub const NOT_COUNTED: &str = "-";
/// Columns of names, which are left-aligned.
const NAME_COLUMNS: usize = 2;

/// Messages per second of a timer.
pub fn rate(plan: &EndpointPlan) -> String {
    if !plan.triggers.is_empty() {
        return "triggered".to_owned();
    }
    format!("{}", (plan.rate_hz * 1000.0).round() / 1000.0)
}

/// Median, 99th percentile and maximum; a percentile with too few samples beyond it has a mark. Empty without samples.
pub fn times(times: &Spread, p50_ns: Option<u64>, p99_ns: Option<u64>) -> [String; 3] {
    let percentile = |percentile: f64, value_ns: Option<u64>| {
        let mark = if has_tail_samples(times.n, percentile) { "" } else { "*" };
        format!("{}{mark}", format_ns((value_ns.unwrap_or(0) as f64).min(times.max())))
    };
    if times.n == 0 {
        return Default::default();
    }
    [percentile(50.0, p50_ns), percentile(99.0, p99_ns), format_ns(times.max())]
}

/// A table without rules, for terminals of any width and for other programs.
pub fn table(columns: &[&str], rows: Vec<Vec<String>>) -> Vec<String> {
    let header: Vec<String> = columns.iter().map(|column| (*column).to_owned()).collect();
    let rows: Vec<Vec<String>> = [header].into_iter().chain(rows).collect();
    let width = |index: usize| rows.iter().filter_map(|row| row.get(index)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns.len()).map(|index| width(index).unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(index, (cell, width))| match index {
            _ if index < NAME_COLUMNS => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        format!("  {}", cells.collect::<Vec<String>>().join("  ")).trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}
