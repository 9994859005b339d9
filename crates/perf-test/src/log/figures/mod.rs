//! The catalogue of a run's figures, with name, unit and value of each. Every command that shows or compares runs takes
//! its figures from this catalogue.

mod catalogue;
mod source;
mod values;

use serde::Serialize;

pub use catalogue::*;
pub use source::Source;
pub use values::Values;

use crate::{common::units::Unit, log::Summary, measure::interval::Interval};

/// A figure of a run, such as the median latency.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Figure {
    /// The name in options (`--require`, `--fail-above`) and in the URL of the page.
    #[serde(rename = "metric")]
    pub key: &'static str,
    /// The name in sentences and in tables with a row for each figure.
    pub name: &'static str,
    /// The heading of the figure's column in tables.
    #[serde(skip)]
    pub column: &'static str,
    /// The name of the field in results files. It contains the unit.
    #[serde(skip)]
    pub field: &'static str,
    /// The unit of the figure's values; empty for a count.
    #[cfg_attr(test, schemars(with = "String"))]
    pub unit: Unit,
    /// Whether the figure of several runs together is the sum of their values; otherwise it is the median.
    #[serde(skip)]
    is_sum: bool,
    /// The part of a run's summary that has the value.
    #[serde(skip)]
    pub source: Source,
}

impl Figure {
    /// The value of the figure in a run; `None` if it is unknown.
    #[must_use]
    pub fn value(&self, run: &Summary) -> Option<f64> {
        self.source.value(run)
    }

    /// The values of the figure in all runs; `None` if there is no run, or if the value of a run is unknown.
    #[must_use]
    pub fn values(&self, runs: &[Summary]) -> Option<Vec<f64>> {
        runs.iter().map(|run| self.value(run)).collect::<Option<Vec<f64>>>().filter(|values| !values.is_empty())
    }

    /// The median of the figure over several runs, with its confidence interval; `None` if no run has a value.
    #[must_use]
    pub fn interval<'a>(&self, runs: impl IntoIterator<Item = &'a Values>) -> Option<Interval> {
        Interval::from_values(runs.into_iter().filter_map(|run| run.get(self)).collect())
    }

    /// Whether the figure of several runs together is the sum of their values. A sum has no interval.
    #[must_use]
    pub fn is_sum(&self) -> bool {
        self.is_sum
    }

    /// A value of the figure as text, with its unit.
    #[must_use]
    pub fn show(&self, value: f64) -> String {
        self.unit.show(value)
    }

    /// A value of the figure as text, with its unit; `-` if it is unknown.
    #[must_use]
    pub fn show_or_dash(&self, value: Option<f64>) -> String {
        value.map_or_else(|| "-".to_owned(), |value| self.show(value))
    }

    /// A median as text, with its interval. If both ends of the interval are equal, the median alone.
    #[must_use]
    pub fn show_median(&self, found: &Interval) -> String {
        let [median, low, high] = [found.median, found.low, found.high].map(|value| self.show(value));
        if low == high { median } else { format!("{median} ({low} to {high})") }
    }

    /// An interval as text, for example `[low, high]`. If both ends have the same unit, it is written once. `None` if
    /// both ends have the same text.
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

    /// Whether the figure is a percentile for which `n` samples are too few.
    #[must_use]
    pub fn is_uncertain(&self, n: u64) -> bool {
        self.source.is_uncertain(n)
    }

    /// The name of the figure. The mark `*` is added if one of the runs has too few samples for it.
    #[must_use]
    pub fn marked<'a>(&self, runs: impl IntoIterator<Item = &'a Summary>) -> String {
        let is_uncertain = runs.into_iter().any(|run| self.source.why_uncertain(run).is_some());
        format!("{}{}", self.name, if is_uncertain { "*" } else { "" })
    }
}

#[cfg(test)]
mod tests;
