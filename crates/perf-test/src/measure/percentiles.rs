//! The percentiles that are reported, and the number of samples that each of them needs.

/// The percentiles that are reported.
pub const PERCENTILES: [f64; 5] = [50.0, 90.0, 99.0, 99.9, 99.99];
/// The number of samples that must be beyond a percentile before its value is trusted.
pub const MIN_TAIL_SAMPLES: f64 = 10.0;

/// Whether enough of `n` samples are beyond a percentile.
#[must_use]
pub fn has_tail_samples(n: u64, percentile: f64) -> bool {
    n as f64 * (1.0 - percentile / 100.0) >= MIN_TAIL_SAMPLES - 1e-6
}

/// The number of samples that a run needs before the percentile is trusted.
#[must_use]
pub fn samples_needed(percentile: f64) -> f64 {
    (MIN_TAIL_SAMPLES / (1.0 - percentile / 100.0)).round()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_need_ten_samples_beyond_them() {
        assert!(has_tail_samples(1000, 99.0) && !has_tail_samples(999, 99.0));
        assert!(has_tail_samples(100_000, 99.99) && !has_tail_samples(99_999, 99.99) && !has_tail_samples(0, 50.0));
    }
}
