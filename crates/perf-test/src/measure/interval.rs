//! The median of a figure over several runs, with a confidence interval for the true median.
//!
//! The ends of the interval are two of the values (order statistics). So the method needs no assumption about the
//! distribution of the values: latencies of runs are not normally distributed.

use serde::{Deserialize, Serialize};

/// The confidence that an interval should have. An interval of fewer than six values has a lower one: see
/// [`Interval::confidence`].
pub const CONFIDENCE: f64 = 0.95;

/// A median with its confidence interval. JSON has null for an infinite number: the ratio to a value of 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Interval {
    /// The number of values.
    pub n: usize,
    /// The median of the values.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub median: f64,
    /// The lower end of the interval.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub low: f64,
    /// The upper end of the interval.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub high: f64,
    /// The probability that the true median is between the ends, 0 to 1.
    pub confidence: f64,
}

impl Interval {
    /// Computes the interval of `values`; `None` if there are no values.
    #[must_use]
    pub fn from_values(mut values: Vec<f64>) -> Option<Interval> {
        values.sort_unstable_by(f64::total_cmp);
        let n = values.len();
        let (middle, upper) = (values.get(n.checked_sub(1)? / 2)?, values.get(n / 2)?);
        // The number of values below the true median is binomially distributed with p = 1/2. Values are dropped from
        // both ends while the interval of the remaining values has enough confidence.
        let mut tail = 0.5_f64.powi(i32::try_from(n).unwrap_or(i32::MAX));
        let (mut dropped, mut outside, mut ways) = (0, tail, tail);
        while dropped + 1 < n.div_ceil(2) {
            ways *= (n - dropped) as f64 / (dropped + 1) as f64;
            if 1.0 - 2.0 * (tail + ways) < CONFIDENCE {
                break;
            }
            tail += ways;
            dropped += 1;
            outside = tail;
        }
        let (low, high) = (values.get(dropped)?, values.get(n - 1 - dropped)?);
        let median = f64::midpoint(*middle, *upper);
        Some(Interval { n, median, low: *low, high: *high, confidence: (1.0 - 2.0 * outside).max(0.0) })
    }

    /// Whether `value` lies within the interval.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn up_to(n: i32) -> Interval {
        Interval::from_values((1..=n).rev().map(f64::from).collect()).unwrap()
    }

    #[test]
    fn the_interval_is_that_of_the_sign_test() {
        // Source: tables of the binomial distribution. The ranks of the values that bound the median with a confidence
        // of at least 95 %.
        for (n, low, high, confidence) in [
            (6, 1.0, 6.0, 0.96875),
            (8, 1.0, 8.0, 0.9922),
            (9, 2.0, 8.0, 0.9609),
            (10, 2.0, 9.0, 0.9785),
            (20, 6.0, 15.0, 0.9586),
        ] {
            let found = up_to(n);
            assert_eq!((found.low, found.high), (low, high), "{found:?}");
            assert!((found.confidence - confidence).abs() < 1e-3, "{found:?}");
            assert_eq!(found.median, f64::from(n + 1) / 2.0);
        }
    }

    #[test]
    fn few_values_give_their_range_and_its_low_confidence() {
        assert_eq!(Interval::from_values(Vec::new()), None);
        assert_eq!((up_to(1).low, up_to(1).high, up_to(1).confidence), (1.0, 1.0, 0.0));
        assert_eq!((up_to(3).low, up_to(3).high, up_to(3).confidence), (1.0, 3.0, 0.75));
        assert_eq!((up_to(5).low, up_to(5).high, up_to(5).confidence), (1.0, 5.0, 0.9375));
        assert!(up_to(5).contains(1.0) && !up_to(5).contains(0.9));
    }
}
