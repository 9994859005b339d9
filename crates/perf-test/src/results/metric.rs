//! The figures of a run that the page shows, in the order of its columns.

use crate::{
    batch::Figures,
    figures::FIGURES,
    measure::{interval::Interval, percentiles::has_tail_samples},
    report::full::{Distribution, SummaryEntry},
    units::{format_mib, format_ns},
};

/// A figure of a run.
#[derive(Debug)]
pub struct Metric {
    /// Its name in the page's address and in its data; of a figure of `--require`, the name there.
    pub key: &'static str,
    /// The heading of its column.
    pub name: &'static str,
    /// Its name in sentences.
    pub long_name: &'static str,
    /// `ns`, `KiB`, `B/s` or, of a count, empty.
    pub unit: &'static str,
    /// The percentile, if it is one.
    percentile: Option<f64>,
}

/// The number of metrics.
pub const COUNT: usize = 8;
/// The number of those of the latency, which come first.
pub const LATENCIES: usize = 4;
/// The index of the longest latency.
pub const MAX: usize = 3;

/// All metrics; the first ones are in the order of [`latencies`].
pub static METRICS: [Metric; COUNT] = [
    metric("p50", "p50", "Latency p50", "ns", Some(50.0)),
    metric("p99", "p99", "Latency p99", "ns", Some(99.0)),
    metric("p99.9", "p99.9", "Latency p99.9", "ns", Some(99.9)),
    metric("max", "max", "Latency max", "ns", None),
    metric("cpu_per_message", "CPU/message", "CPU time per message", "ns", None),
    metric("memory", "Memory", "Peak memory", "KiB", None),
    metric("throughput", "MB/s", "Throughput", "B/s", None),
    metric("lost", "Lost", "Lost samples", "", None),
];

const fn metric(
    key: &'static str,
    name: &'static str,
    long_name: &'static str,
    unit: &'static str,
    percentile: Option<f64>,
) -> Metric {
    Metric { key, name, long_name, unit, percentile }
}

/// The metrics of a distribution of latencies, ns.
pub fn latencies(of: &Distribution) -> [Option<f64>; LATENCIES] {
    [of.p50_ns.map(|ns| ns as f64), of.p99_ns.map(|ns| ns as f64), of.p99_9_ns.map(|ns| ns as f64), of.max_ns]
}

impl Metric {
    /// Its value in a run that has ended. Memory and throughput are those of `perf_test versus`.
    pub fn value(&self, run: &SummaryEntry) -> Option<f64> {
        match self.key {
            "memory" => Figures::of(run).memory_kib,
            "throughput" => Figures::of(run).received_bytes_per_s,
            key => FIGURES.iter().find(|figure| figure.metric == key)?.value(run),
        }
    }

    /// Whether it is a percentile that rests on too few of `n` samples.
    pub fn is_uncertain(&self, n: u64) -> bool {
        self.percentile.is_some_and(|percentile| !has_tail_samples(n, percentile))
    }

    /// The ends of an interval with their unit, which stands once if it is that of both; `None` if both look the same.
    pub fn show_interval(&self, interval: &Interval) -> Option<String> {
        let [low, high] = [interval.low, interval.high].map(|value| self.show(Some(value)));
        if low == high {
            return None;
        }
        let unit = |shown: &str| shown.split_once(' ').map(|(_, unit)| unit.to_owned());
        let low = if unit(&low) == unit(&high) { low.split(' ').next().unwrap_or_default() } else { &low };
        Some(format!("[{low}, {high}]"))
    }

    /// A value with its unit, or `-`.
    pub fn show(&self, value: Option<f64>) -> String {
        let Some(value) = value else { return "-".to_owned() };
        match self.unit {
            "ns" => format_ns(value),
            "KiB" => format_mib(value),
            "B/s" if value < 10e6 => format!("{:.2} MB/s", value / 1e6),
            "B/s" => format!("{:.0} MB/s", value / 1e6),
            _ => format!("{value:.0}"),
        }
    }
}
