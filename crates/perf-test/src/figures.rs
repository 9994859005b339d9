//! The figures of a run by which runs are compared. Less is better in all of them.

use serde::Serialize;

use crate::{measure::percentiles::has_tail_samples, report::full::SummaryEntry, units::format_ns};

/// A figure of a run.
#[derive(Debug, Serialize)]
pub struct Figure {
    /// Its name in tables.
    pub name: &'static str,
    /// Its name in `--require` and `--fail-above`.
    pub metric: &'static str,
    /// `ns`, `KiB` or, of a count, empty.
    pub unit: &'static str,
    /// The percentile, if it is one.
    #[serde(skip)]
    percentile: Option<f64>,
    #[serde(skip)]
    value: fn(&SummaryEntry) -> Option<f64>,
}

/// All figures.
pub static FIGURES: [Figure; 9] = [
    percentile("latency p50", "p50", 50.0, |run| Some(run.total.latency.p50_ns? as f64)),
    figure("latency mean", "mean", "ns", |run| run.total.latency.mean_ns),
    percentile("latency p99", "p99", 99.0, |run| Some(run.total.latency.p99_ns? as f64)),
    percentile("latency p99.9", "p99.9", 99.9, |run| Some(run.total.latency.p99_9_ns? as f64)),
    figure("latency max", "max", "ns", |run| run.total.latency.max_ns),
    percentile("response p99", "response.p99", 99.0, |run| Some(run.total.response.p99_ns? as f64)),
    figure("lost", "lost", "", |run| (run.total.received.samples > 0).then_some(run.lost as f64)),
    figure("CPU per message", "cpu_per_message", "ns", |run| run.cpu_per_message_ns),
    figure("peak memory", "rss", "KiB", |run| Some(run.memory().peak_kib)),
];

/// The metrics of the figures whose differences need no correction for the number of figures.
pub const PRIMARY: [&str; 2] = ["p50", "cpu_per_message"];

const fn figure(
    name: &'static str,
    metric: &'static str,
    unit: &'static str,
    value: fn(&SummaryEntry) -> Option<f64>,
) -> Figure {
    Figure { name, metric, unit, percentile: None, value }
}

const fn percentile(
    name: &'static str,
    metric: &'static str,
    percentile: f64,
    value_ns: fn(&SummaryEntry) -> Option<f64>,
) -> Figure {
    Figure { name, metric, unit: "ns", percentile: Some(percentile), value: value_ns }
}

impl Figure {
    /// Whether its differences need no correction.
    #[must_use]
    pub fn is_primary(&self) -> bool {
        PRIMARY.contains(&self.metric)
    }

    /// Its value in a run; `None` if the run has none.
    #[must_use]
    pub fn value(&self, run: &SummaryEntry) -> Option<f64> {
        (self.value)(run)
    }

    /// The values of all runs; `None` without a run, or if one has no value.
    #[must_use]
    pub fn values(&self, runs: &[SummaryEntry]) -> Option<Vec<f64>> {
        runs.iter().map(self.value).collect::<Option<Vec<f64>>>().filter(|values| !values.is_empty())
    }

    /// A value with its unit.
    #[must_use]
    pub fn show(&self, value: f64) -> String {
        match self.unit {
            "ns" => format_ns(value),
            unit => format!("{value:.0} {unit}").trim_end().to_owned(),
        }
    }

    /// Its name, marked if it rests on too few samples in one of the runs.
    #[must_use]
    pub fn marked<'a>(&self, runs: impl IntoIterator<Item = &'a SummaryEntry>) -> String {
        let few = |run: &SummaryEntry| {
            self.percentile.is_some_and(|percentile| !has_tail_samples(run.total.latency.n, percentile))
        };
        let mark = if runs.into_iter().any(few) { "*" } else { "" };
        format!("{}{mark}", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requirement::Requirement;

    #[test]
    fn every_figure_has_its_name_in_requirements() {
        for figure in &FIGURES {
            let bound = match figure.unit {
                "KiB" => "1KiB",
                "ns" => "1ns",
                _ => "1",
            };
            let requirement: Result<Requirement, String> = format!("{}<{bound}", figure.metric).parse();
            assert!(requirement.is_ok(), "{requirement:?}");
        }
        assert!(PRIMARY.iter().all(|primary| FIGURES.iter().any(|figure| figure.metric == *primary)));
    }
}
