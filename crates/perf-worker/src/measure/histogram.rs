//! The distribution of latencies: an HDR histogram from 1 ns to 100 s with three digits.
//!
//! Recording never allocates and never fails: a latency above the range is recorded as the largest value.

use hdrhistogram::Histogram;

/// The longest latency that is distinguished from longer ones, in nanoseconds.
const LONGEST_NS: u64 = 100 * 1_000_000_000;

/// A distribution of latencies in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Latencies(Histogram<u64>);

impl Default for Latencies {
    /// An empty distribution; all its memory is allocated here.
    fn default() -> Self {
        // The bounds are constants, so the error is a wrong constant; `new(3)` grows by itself and is always valid.
        Latencies(Histogram::new_with_bounds(1, LONGEST_NS, 3).unwrap_or_else(|_| unreachable!("constant bounds")))
    }
}

impl Latencies {
    /// An empty distribution with two digits, an eighth of the memory: for processes with many endpoints.
    #[must_use]
    pub fn coarse() -> Latencies {
        Latencies(Histogram::new_with_bounds(1, LONGEST_NS, 2).unwrap_or_else(|_| unreachable!("constant bounds")))
    }

    /// Records one latency.
    pub fn record(&mut self, latency_ns: u64) {
        self.0.saturating_record(latency_ns);
    }

    /// The number of latencies.
    #[must_use]
    pub fn n(&self) -> u64 {
        self.0.len()
    }

    /// The latency in nanoseconds that the fraction `quantile` (0 to 1) of all samples does not exceed; 0 if empty.
    #[must_use]
    pub fn quantile_ns(&self, quantile: f64) -> u64 {
        if self.0.is_empty() { 0 } else { self.0.value_at_quantile(quantile) }
    }

    /// The cells that are not empty, as (latency in nanoseconds, count).
    #[must_use]
    pub fn cells(&self) -> Vec<(u64, u64)> {
        self.0.iter_recorded().map(|cell| (cell.value_iterated_to(), cell.count_at_value())).collect()
    }

    /// Adds cells from another distribution.
    pub fn add_cells(&mut self, cells: &[(u64, u64)]) {
        for (latency_ns, n) in cells {
            self.0.saturating_record_n(*latency_ns, *n);
        }
    }

    /// The memory that it may take, bytes; less while whole ranges are unused.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.0.distinct_values() * size_of::<u64>()
    }

    /// Removes all latencies and keeps the memory.
    pub fn clear(&mut self) {
        if !self.0.is_empty() {
            self.0.reset();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_within_three_digits_of_the_sorted_series() {
        let mut latencies = Latencies::default();
        let mut series: Vec<u64> = (0..20_000_u64).map(|i| 1000 + i * i % 1_000_003).collect();
        series.iter().for_each(|value| latencies.record(*value));
        series.sort_unstable();
        for quantile in [0.5, 0.9, 0.99, 0.999, 0.9999] {
            let exact = series[((series.len() as f64 * quantile).ceil() as usize).max(1) - 1];
            let found = latencies.quantile_ns(quantile);
            assert!(found.abs_diff(exact) <= exact / 1000 + 1, "p{quantile}: {found} against {exact}");
        }
    }

    #[test]
    fn a_distribution_sent_as_cells_arrives_whole() {
        let mut sent = Latencies::default();
        [0, 1, 999, 1_000_000, 1_000_001, u64::MAX].iter().for_each(|value| sent.record(*value));
        let mut received = Latencies::default();
        received.add_cells(&sent.cells());
        received.add_cells(&sent.cells());
        assert_eq!(received.n(), 12);
        assert_eq!(received.quantile_ns(0.5), sent.quantile_ns(0.5));
        assert_eq!(received.quantile_ns(1.0), sent.quantile_ns(1.0));
    }

    #[test]
    fn an_absurd_latency_is_counted_as_the_longest() {
        let mut latencies = Latencies::default();
        latencies.record(u64::MAX);
        assert!(latencies.quantile_ns(1.0) >= LONGEST_NS);
        latencies.clear();
        assert_eq!((latencies.n(), latencies.quantile_ns(0.99)), (0, 0));
    }
}
