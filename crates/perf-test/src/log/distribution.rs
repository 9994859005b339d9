//! The statistics of many times in Gantry's own log: moments, percentiles and the whole histogram.

use std::ops::Deref;

use serde::{Deserialize, Serialize};

use crate::measure::percentiles::PERCENTILES;
use perf_worker::measure::{histogram::Latencies, moments::Moments};

/// The statistics of a series of times. A statistic that needs more times than the series has is null.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Spread {
    /// The number of times.
    pub n: u64,
    /// The shortest time, ns.
    pub min_ns: Option<f64>,
    /// The arithmetic mean of the times, ns.
    pub mean_ns: Option<f64>,
    /// The longest time, ns.
    pub max_ns: Option<f64>,
    /// The sample variance of the times (divided by n - 1), ns².
    pub variance_ns2: Option<f64>,
}

impl Spread {
    /// Creates the statistics from moments in nanoseconds.
    #[must_use]
    pub fn from_moments(moments_ns: &Moments) -> Spread {
        let n = moments_ns.n;
        let known = |value: f64| (n > 0).then_some(value);
        Spread {
            n,
            min_ns: known(moments_ns.min),
            mean_ns: known(moments_ns.mean),
            max_ns: known(moments_ns.max),
            variance_ns2: (n > 1).then(|| moments_ns.variance()),
        }
    }

    /// The mean, ns; 0 if there are no times.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.mean_ns.unwrap_or(0.0)
    }

    /// The longest time, ns; 0 if there are no times.
    #[must_use]
    pub fn max(&self) -> f64 {
        self.max_ns.unwrap_or(0.0)
    }

    /// The moments in seconds; all zero if there are no times.
    #[must_use]
    pub fn moments_s(&self) -> Moments {
        let m2 = self.variance_ns2.unwrap_or(0.0) * self.n.saturating_sub(1) as f64;
        Moments { n: self.n, min: self.min_ns.unwrap_or(0.0), max: self.max(), mean: self.mean(), m2 }.scaled(1e-9)
    }

    /// The standard deviation, ns; 0 if there are fewer than two times.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        self.variance_ns2.unwrap_or(0.0).sqrt()
    }
}

/// The statistics of a series of times, with its histogram. The percentiles are within 0.1 % of the exact values; they
/// are null if there are no times.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Distribution {
    /// Number, minimum, mean, maximum and variance.
    #[serde(flatten)]
    pub spread: Spread,
    /// The median, ns.
    pub p50_ns: Option<u64>,
    /// The 90th percentile, ns.
    pub p90_ns: Option<u64>,
    /// The 99th percentile, ns.
    pub p99_ns: Option<u64>,
    /// The 99.9th percentile, ns; reliable if n is at least 10 000.
    pub p99_9_ns: Option<u64>,
    /// The 99.99th percentile, ns; reliable if n is at least 100 000.
    pub p99_99_ns: Option<u64>,
    /// The complete histogram. Each pair is the upper end of a cell in ns, with three significant digits and at most
    /// 100 s, and the number of times in the cell.
    pub cells: Vec<(u64, u64)>,
}

impl Distribution {
    /// Creates the statistics from moments in nanoseconds and a histogram.
    #[must_use]
    pub fn new(moments_ns: &Moments, histogram: &Latencies) -> Distribution {
        // The upper end of a cell may exceed the longest time, which is known exactly and limits the percentile.
        let longest_ns = moments_ns.max.max(0.0) as u64;
        let percentile =
            |percent: f64| (histogram.n() > 0).then(|| histogram.quantile_ns(percent / 100.0).min(longest_ns));
        Distribution {
            spread: Spread::from_moments(moments_ns),
            p50_ns: percentile(50.0),
            p90_ns: percentile(90.0),
            p99_ns: percentile(99.0),
            p99_9_ns: percentile(99.9),
            p99_99_ns: percentile(99.99),
            cells: histogram.cells(),
        }
    }

    /// The value of a percentile, ns; 0 if there are no times, or if the percentile is not one of `PERCENTILES`.
    #[must_use]
    pub fn percentile_ns(&self, percentile: f64) -> f64 {
        let found = [self.p50_ns, self.p90_ns, self.p99_ns, self.p99_9_ns, self.p99_99_ns];
        let at = PERCENTILES.iter().position(|known| *known == percentile);
        at.and_then(|at| found[at]).unwrap_or(0) as f64
    }
}

/// Gives access to the fields of `spread`.
impl Deref for Distribution {
    type Target = Spread;

    fn deref(&self) -> &Spread {
        &self.spread
    }
}
