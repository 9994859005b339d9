//! Thresholds of latency.

use serde::{Deserialize, Serialize};

use crate::pacing::Pace;

/// A latency above which a sample is late: the smaller one of a fraction of the period and a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Threshold {
    /// The fraction of the period; it has no effect if messages have no period.
    pub part_of_period: Option<f64>,
    /// A time, nanoseconds.
    pub absolute_ns: Option<u64>,
}

impl Threshold {
    /// The limits for late messages in the study of executors: 25 % of the period, 5 ms. (iRobot's own default is
    /// 20 %.)
    pub const LATE: Threshold = Threshold { part_of_period: Some(0.25), absolute_ns: Some(5_000_000) };
    /// One period, 50 ms.
    pub const TOO_LATE: Threshold = Threshold { part_of_period: Some(1.0), absolute_ns: Some(50_000_000) };

    /// The longest latency within the threshold at this pace, nanoseconds; `None` without a threshold.
    #[must_use]
    pub fn limit_ns(&self, pace: Pace) -> Option<u64> {
        let period_ns = pace.per_ns as f64 / f64::from(pace.messages);
        let part = self.part_of_period.filter(|_| pace.messages > 0).map(|part| (part * period_ns) as u64);
        [part, self.absolute_ns].into_iter().flatten().min()
    }
}
