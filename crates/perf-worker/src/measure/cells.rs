//! A distribution of latencies that stores only the non-empty cells of a histogram. A run with many subscriptions has
//! one for each of them, so it must be small.

use std::collections::BTreeMap;

/// The non-empty cells of a histogram: the count for each latency. Counts may come from a log file with any values, so
/// sums saturate at [`u64::MAX`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cells(BTreeMap<u64, u64>);

impl Cells {
    /// Adds cells, as (latency in nanoseconds, count).
    pub fn add(&mut self, cells: &[(u64, u64)]) {
        for (latency_ns, n) in cells {
            self.add_cell(*latency_ns, *n);
        }
    }

    /// Adds the cells of another distribution.
    pub fn merge(&mut self, other: &Cells) {
        other.0.iter().for_each(|(latency_ns, n)| self.add_cell(*latency_ns, *n));
    }

    fn add_cell(&mut self, latency_ns: u64, n: u64) {
        let count = self.0.entry(latency_ns).or_default();
        *count = count.saturating_add(n);
    }

    /// The number of latencies.
    #[must_use]
    pub fn n(&self) -> u64 {
        self.0.values().fold(0, |sum, n| sum.saturating_add(*n))
    }

    /// The latency in nanoseconds that the fraction `quantile` (0 to 1) of all samples does not exceed; 0 if there are
    /// none.
    #[must_use]
    pub fn quantile_ns(&self, quantile: f64) -> u64 {
        let rank = ((quantile * self.n() as f64).ceil() as u64).max(1);
        let mut before = 0_u64;
        let found = self.0.iter().find(|(_, n)| {
            before = before.saturating_add(**n);
            before >= rank
        });
        found.map_or(0, |(latency_ns, _)| *latency_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::histogram::Latencies;

    #[test]
    fn quantiles_are_those_of_the_whole_histogram() {
        let (mut latencies, mut cells) = (Latencies::default(), Cells::default());
        assert_eq!((cells.n(), cells.quantile_ns(0.5)), (0, 0));
        for second in 0..3_u64 {
            let mut row = Latencies::default();
            (0..1000_u64).for_each(|i| row.record(1000 + second * 500 + i * i % 70_001));
            latencies.add_cells(&row.cells());
            cells.add(&row.cells());
        }
        assert_eq!(cells.n(), latencies.n());
        for quantile in [0.0, 0.001, 0.5, 0.9, 0.99, 0.999, 1.0] {
            assert_eq!(cells.quantile_ns(quantile), latencies.quantile_ns(quantile), "{quantile}");
        }
    }
}
