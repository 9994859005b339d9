//! The distribution of latencies. It has two forms: a dense HDR histogram from 1 ns to 100 s with three significant
//! digits, and a coarse one with two digits that stores only non-empty cells.
//!
//! Recording never fails: a latency above the range is recorded as the largest value. Recording in the dense form never
//! allocates.

use hdrhistogram::Histogram;

use super::sparse_cells::SparseCells;

/// The longest latency with a cell of its own, in nanoseconds. Longer latencies count as this one.
const LONGEST_NS: u64 = 100 * 1_000_000_000;

/// A distribution of latencies in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Latencies(Content);

#[derive(Clone, Debug, PartialEq)]
enum Content {
    /// All cells.
    Dense(Box<Histogram<u64>>),
    /// The cells that are not empty.
    Sparse(SparseCells),
}

impl Default for Latencies {
    /// An empty distribution; all its memory is allocated here.
    fn default() -> Self {
        // The bounds are constants, so the constructor cannot fail.
        let cells = Histogram::new_with_bounds(1, LONGEST_NS, 3).unwrap_or_else(|_| unreachable!("constant bounds"));
        Latencies(Content::Dense(Box::new(cells)))
    }
}

impl Latencies {
    /// An empty distribution with two digits, for processes with thousands of endpoints. It has memory only for its
    /// non-empty cells. Recording allocates when the number of these cells exceeds its former maximum.
    #[must_use]
    pub fn coarse() -> Latencies {
        Latencies(Content::Sparse(SparseCells::default()))
    }

    /// Records one latency.
    #[inline]
    pub fn record(&mut self, latency_ns: u64) {
        match &mut self.0 {
            Content::Dense(cells) => cells.saturating_record(latency_ns),
            Content::Sparse(cells) => cells.add(latency_ns.min(LONGEST_NS), 1),
        }
    }

    /// The number of latencies.
    #[must_use]
    pub fn n(&self) -> u64 {
        match &self.0 {
            Content::Dense(cells) => cells.len(),
            Content::Sparse(cells) => cells.n(),
        }
    }

    /// The latency in nanoseconds that the fraction `quantile` (0 to 1) of all samples does not exceed; 0 if empty.
    #[must_use]
    pub fn quantile_ns(&self, quantile: f64) -> u64 {
        match &self.0 {
            Content::Dense(cells) if cells.is_empty() => 0,
            Content::Dense(cells) => cells.value_at_quantile(quantile),
            Content::Sparse(cells) => cells.quantile_ns(quantile),
        }
    }

    /// The cells that are not empty, as (latency in nanoseconds, count).
    #[must_use]
    pub fn cells(&self) -> Vec<(u64, u64)> {
        match &self.0 {
            Content::Dense(cells) => {
                cells.iter_recorded().map(|cell| (cell.value_iterated_to(), cell.count_at_value())).collect()
            }
            Content::Sparse(cells) => cells.iter().collect(),
        }
    }

    /// Adds cells from another distribution.
    pub fn add_cells(&mut self, cells: &[(u64, u64)]) {
        for (latency_ns, n) in cells {
            match &mut self.0 {
                Content::Dense(dense) => dense.saturating_record_n(*latency_ns, *n),
                Content::Sparse(sparse) => sparse.add(*latency_ns, *n),
            }
        }
    }

    /// The memory of the histogram, bytes. A dense histogram uses less while whole ranges of it are empty.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        match &self.0 {
            Content::Dense(cells) => cells.distinct_values() * size_of::<u64>(),
            Content::Sparse(cells) => cells.memory_bytes(),
        }
    }

    /// Removes all latencies and keeps the memory.
    pub fn clear(&mut self) {
        match &mut self.0 {
            Content::Dense(cells) if cells.is_empty() => {}
            Content::Dense(cells) => cells.reset(),
            Content::Sparse(cells) => cells.clear(),
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

    #[test]
    fn a_coarse_distribution_is_within_two_digits_and_keeps_its_memory() {
        let (mut coarse, mut fine) = (Latencies::coarse(), Latencies::default());
        assert_eq!((coarse.memory_bytes(), coarse.n(), coarse.quantile_ns(0.5)), (0, 0, 0));
        for value in (0..5000_u64).map(|i| i * i * 7 % 3_000_017).chain([u64::MAX]) {
            coarse.record(value);
            fine.record(value);
        }
        assert_eq!(coarse.n(), fine.n());
        for quantile in [0.0, 0.01, 0.5, 0.9, 0.99, 1.0] {
            let (found, exact) = (coarse.quantile_ns(quantile), fine.quantile_ns(quantile));
            assert!(found.abs_diff(exact) <= exact / 100 + 1, "p{quantile}: {found} against {exact}");
        }
        let mut sum = Latencies::default();
        sum.add_cells(&coarse.cells());
        assert_eq!(sum.n(), 5001);
        assert!(sum.quantile_ns(0.5).abs_diff(fine.quantile_ns(0.5)) <= fine.quantile_ns(0.5) / 50);
        assert!(coarse.cells().is_sorted());
        let before = coarse.memory_bytes();
        coarse.clear();
        assert_eq!((coarse.n(), coarse.memory_bytes()), (0, before));
        // The test fills as many cells as a typical topic fills in one second.
        let mut small = Latencies::coarse();
        (0..100).for_each(|i| small.record(100_000 + i * 50));
        assert!(small.memory_bytes() < 1024, "{}", small.memory_bytes());
    }
}
