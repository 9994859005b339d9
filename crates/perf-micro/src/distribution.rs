//! The distribution of a quantity. Each percentile is a value that occurred (nearest rank).

use serde::Serialize;

/// The distribution of a quantity, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Distribution {
    pub min_ns: i64,
    pub p50_ns: i64,
    pub p90_ns: i64,
    pub p99_ns: i64,
    pub p99_9_ns: i64,
    pub max_ns: i64,
    pub mean_ns: f64,
}

impl FromIterator<i64> for Distribution {
    fn from_iter<T: IntoIterator<Item = i64>>(values_ns: T) -> Distribution {
        let mut values_ns: Vec<i64> = values_ns.into_iter().collect();
        values_ns.sort_unstable();
        let n = values_ns.len();
        let rank = |part: f64| ((part * n as f64).ceil() as usize).clamp(1, n.max(1)) - 1;
        let at = |part: f64| values_ns.get(rank(part)).copied().unwrap_or_default();
        Distribution {
            min_ns: at(0.0),
            p50_ns: at(0.5),
            p90_ns: at(0.9),
            p99_ns: at(0.99),
            p99_9_ns: at(0.999),
            max_ns: at(1.0),
            mean_ns: values_ns.iter().sum::<i64>() as f64 / n.max(1) as f64,
        }
    }
}

/// Converts a time to ms.
pub fn ms(ns: i64) -> f64 {
    ns as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_occurred() {
        let Distribution { min_ns, p50_ns, p90_ns, p99_ns, p99_9_ns, max_ns, mean_ns } = (1..=1000).rev().collect();
        assert_eq!([min_ns, p50_ns, p90_ns, p99_ns, p99_9_ns, max_ns], [1, 500, 900, 990, 999, 1000]);
        assert_eq!(mean_ns, 500.5);
        assert_eq!(Distribution::from_iter([7]).p99_ns, 7);
        assert_eq!(Distribution::from_iter([]), Distribution::default());
    }
}
