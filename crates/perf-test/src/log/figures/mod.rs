//! The catalogue of a run's figures: the name, the unit, the value and the text of each. Every command that shows or
//! compares runs chooses its figures from the catalogue.

mod catalogue;
mod source;
mod values;

use serde::Serialize;

pub use catalogue::*;
pub use source::Source;
pub use values::Values;

use crate::{common::units::Unit, log::Summary, measure::interval::Interval};

/// A figure of a run.
#[derive(Debug, Serialize)]
pub struct Figure {
    /// The name in options (`--require`, `--fail-above`) and in the address of the page.
    #[serde(rename = "metric")]
    pub key: &'static str,
    /// The name in sentences and in tables with a row for each figure.
    pub name: &'static str,
    /// The heading of a column.
    #[serde(skip)]
    pub column: &'static str,
    /// The name in files of results, with its unit.
    #[serde(skip)]
    pub field: &'static str,
    /// The unit of the figure's values.
    pub unit: Unit,
    /// Whether the value of several runs together is the sum of their values; else it is the median.
    #[serde(skip)]
    is_sum: bool,
    /// The source of the figure's value in the summary of a run.
    #[serde(skip)]
    pub source: Source,
}

impl Figure {
    /// The value of the figure in a run; `None` if the run has none.
    #[must_use]
    pub fn value(&self, run: &Summary) -> Option<f64> {
        self.source.value(run)
    }

    /// The values of the figure in all runs; `None` without a run, or if one run has no value.
    #[must_use]
    pub fn values(&self, runs: &[Summary]) -> Option<Vec<f64>> {
        runs.iter().map(|run| self.value(run)).collect::<Option<Vec<f64>>>().filter(|values| !values.is_empty())
    }

    /// The median of the figure's values with its interval; `None` if no run has a value.
    #[must_use]
    pub fn interval<'a>(&self, runs: impl IntoIterator<Item = &'a Values>) -> Option<Interval> {
        Interval::from_values(runs.into_iter().filter_map(|run| run.get(self)).collect())
    }

    /// Whether the value of several runs together is the sum of their values, which has no interval.
    #[must_use]
    pub fn is_sum(&self) -> bool {
        self.is_sum
    }

    /// A value of the figure with its unit.
    #[must_use]
    pub fn show(&self, value: f64) -> String {
        self.unit.show(value)
    }

    /// A value of the figure with its unit, or `-`.
    #[must_use]
    pub fn show_or_dash(&self, value: Option<f64>) -> String {
        value.map_or_else(|| "-".to_owned(), |value| self.show(value))
    }

    /// A median with its interval, or alone if both ends of the interval are the same.
    #[must_use]
    pub fn show_median(&self, found: &Interval) -> String {
        let [median, low, high] = [found.median, found.low, found.high].map(|value| self.show(value));
        if low == high { median } else { format!("{median} ({low} to {high})") }
    }

    /// The text of an interval, for example `[low, high]`. A unit that both ends have is written once. `None` if both
    /// ends have the same text.
    #[must_use]
    pub fn show_interval(&self, interval: &Interval) -> Option<String> {
        let [low, high] = [interval.low, interval.high].map(|value| self.show(value));
        if low == high {
            return None;
        }
        let unit = |shown: &str| shown.split_once(' ').map(|(_, unit)| unit.to_owned());
        let low = if unit(&low) == unit(&high) { low.split(' ').next().unwrap_or_default() } else { &low };
        Some(format!("[{low}, {high}]"))
    }

    /// Whether the figure is a percentile that rests on too few of `n` samples.
    #[must_use]
    pub fn is_uncertain(&self, n: u64) -> bool {
        self.source.is_uncertain(n)
    }

    /// The name of the figure, with the mark `*` if the figure rests on too few samples in one of the runs.
    #[must_use]
    pub fn marked<'a>(&self, runs: impl IntoIterator<Item = &'a Summary>) -> String {
        let is_uncertain = runs.into_iter().any(|run| self.source.why_uncertain(run).is_some());
        format!("{}{}", self.name, if is_uncertain { "*" } else { "" })
    }
}

#[cfg(test)]
mod tests;
