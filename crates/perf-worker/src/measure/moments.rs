//! Moments of a series: count, minimum, maximum, mean and variance. The values themselves are not stored.
//!
//! Welford's algorithm adds single values; Chan's algorithm merges the series of several workers. All arithmetic is in
//! `f64`, because integer sums of squares overflow within one second of ordinary traffic.

use serde::{Deserialize, Serialize};

/// The moments of a series; all zero while it is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Moments {
    /// The number of values.
    pub n: u64,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
    /// The arithmetic mean.
    pub mean: f64,
    /// The sum of squared distances from the mean. Its unit is the square of the values' unit.
    pub m2: f64,
}

impl Moments {
    /// Adds one value.
    pub fn add(&mut self, value: f64) {
        if self.n == 0 {
            *self = Moments { n: 1, min: value, max: value, mean: value, m2: 0.0 };
            return;
        }
        self.n += 1;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        let distance = value - self.mean;
        self.mean += distance / self.n as f64;
        self.m2 += distance * (value - self.mean);
    }

    /// Adds all values of another series.
    pub fn merge(&mut self, other: &Moments) {
        if other.n == 0 {
            return;
        }
        if self.n == 0 {
            *self = *other;
            return;
        }
        let (ours, theirs) = (self.n as f64, other.n as f64);
        let total = ours + theirs;
        let distance = other.mean - self.mean;
        self.n += other.n;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.mean += distance * theirs / total;
        self.m2 += other.m2 + distance * distance * ours * theirs / total;
    }

    /// The sample variance, `m2 / (n - 1)`; 0 for fewer than two values.
    #[must_use]
    pub fn variance(&self) -> f64 {
        if self.n < 2 { 0.0 } else { self.m2 / (self.n - 1) as f64 }
    }

    /// The moments of the series in another unit: every value is multiplied by `factor`, which must be positive.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Moments {
        Moments {
            n: self.n,
            min: self.min * factor,
            max: self.max * factor,
            mean: self.mean * factor,
            m2: self.m2 * factor * factor,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments_of(values: &[f64]) -> Moments {
        let mut moments = Moments::default();
        values.iter().for_each(|value| moments.add(*value));
        moments
    }

    fn naive_variance(values: &[f64]) -> f64 {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
    }

    #[test]
    fn the_variance_agrees_with_the_definition_where_integer_sums_overflow() {
        // 10,000 latencies near 5 ms: the sum of their squares does not fit into 63 bits.
        let values: Vec<f64> = (0..10_000).map(|i| 5e6 + f64::from(i * 7919 % 1000)).collect();
        let moments = moments_of(&values);
        assert_eq!(moments.n, 10_000);
        assert!(close(moments.variance(), naive_variance(&values)), "{moments:?}");
        assert_eq!((moments.min, moments.max), (5e6, 5e6 + 999.0));
    }

    #[test]
    fn merging_parts_equals_the_whole_whatever_the_split() {
        let values: Vec<f64> = (0..100).map(|i| f64::from(i * i % 37) - 12.0).collect();
        let whole = moments_of(&values);
        for split in [0, 1, 50, 99, 100] {
            let (left, right) = values.split_at(split);
            let mut merged = moments_of(left);
            merged.merge(&moments_of(right));
            assert_eq!((merged.n, merged.min, merged.max), (whole.n, whole.min, whole.max));
            assert!(close(merged.mean, whole.mean) && close(merged.m2, whole.m2), "split {split}: {merged:?}");
        }
    }

    #[test]
    fn an_empty_series_and_a_single_value_have_no_variance_and_no_nan() {
        assert_eq!(Moments::default().variance(), 0.0);
        assert_eq!(moments_of(&[3.0]).variance(), 0.0);
        assert_eq!(moments_of(&[-3.0]).min, -3.0);
        assert_eq!(moments_of(&[-3.0]).max, -3.0);
    }

    #[test]
    fn a_change_of_unit_squares_in_the_variance() {
        let scaled = moments_of(&[1e6, 2e6, 4e6]).scaled(1e-9);
        assert!(close(scaled.mean * 1e3, 7.0 / 3.0));
        assert!(close(scaled.variance() * 1e6, naive_variance(&[1.0, 2.0, 4.0])));
    }
}
