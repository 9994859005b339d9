//! Times in Gantry's own log: their moments, their percentiles and the whole histogram.

use serde::{Deserialize, Serialize};

use crate::measure::histogram::Latencies;
use crate::measure::moments::Moments;

/// A series of times; what a series of none, or of one, does not have is null.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Spread {
    /// How many.
    pub n: u64,
    /// The shortest, ns.
    pub min_ns: Option<f64>,
    /// Their arithmetic mean, ns.
    pub mean_ns: Option<f64>,
    /// The longest, ns.
    pub max_ns: Option<f64>,
    /// Their sample variance (divided by n - 1), ns².
    pub variance_ns2: Option<f64>,
}

impl Spread {
    /// Of moments in nanoseconds.
    #[must_use]
    pub fn of(moments_ns: &Moments) -> Spread {
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
}

/// A series of times with its histogram. Percentiles are within 0.1 % of the exact ones; null if there is nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Distribution {
    /// How many.
    pub n: u64,
    /// The shortest, ns.
    pub min_ns: Option<f64>,
    /// Their arithmetic mean, ns.
    pub mean_ns: Option<f64>,
    /// The longest, ns.
    pub max_ns: Option<f64>,
    /// Their sample variance (divided by n - 1), ns².
    pub variance_ns2: Option<f64>,
    /// The median, ns.
    pub p50_ns: Option<u64>,
    /// 90 % are not above it, ns.
    pub p90_ns: Option<u64>,
    /// 99 % are not above it, ns.
    pub p99_ns: Option<u64>,
    /// 99.9 % are not above it, ns; to be trusted from n = 10 000 on.
    pub p99_9_ns: Option<u64>,
    /// 99.99 % are not above it, ns; to be trusted from n = 100 000 on.
    pub p99_99_ns: Option<u64>,
    /// The whole histogram: each pair is a time in ns and how many there were of it, to three significant digits and at most
    /// 100 s. A cell's time is its upper end.
    pub cells: Vec<(u64, u64)>,
}

impl Distribution {
    /// Of moments in nanoseconds and the histogram of the same series.
    #[must_use]
    pub fn of(moments_ns: &Moments, histogram: &Latencies) -> Distribution {
        let Spread { n, min_ns, mean_ns, max_ns, variance_ns2 } = Spread::of(moments_ns);
        // A cell ends above what it holds.
        let longest_ns = moments_ns.max.max(0.0) as u64;
        let percentile =
            |percent: f64| (histogram.n() > 0).then(|| histogram.quantile_ns(percent / 100.0).min(longest_ns));
        Distribution {
            n,
            min_ns,
            mean_ns,
            max_ns,
            variance_ns2,
            p50_ns: percentile(50.0),
            p90_ns: percentile(90.0),
            p99_ns: percentile(99.0),
            p99_9_ns: percentile(99.9),
            p99_99_ns: percentile(99.99),
            cells: histogram.cells(),
        }
    }
}
