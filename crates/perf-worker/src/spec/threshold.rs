//! Thresholds above which a sample is late or too late.

use serde::{Deserialize, Serialize};

use crate::pacing::Pace;

/// A latency above which a sample is late: the smaller of a fraction of the period and an absolute time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Threshold {
    /// The fraction of the period. It is ignored if messages have no period.
    pub part_of_period: Option<f64>,
    /// The absolute time, nanoseconds.
    pub absolute_ns: Option<u64>,
}

impl Threshold {
    /// The default threshold for late samples: 25 % of the period, at most 5 ms. It comes from a published study of ROS
    /// 2 executors. (iRobot's own default is 20 %.)
    pub const LATE: Threshold = Threshold { part_of_period: Some(0.25), absolute_ns: Some(5_000_000) };
    /// The default threshold for too late samples: one period, at most 50 ms.
    pub const TOO_LATE: Threshold = Threshold { part_of_period: Some(1.0), absolute_ns: Some(50_000_000) };

    /// The largest latency at this pace that is not above the threshold, nanoseconds; `None` without a threshold.
    #[must_use]
    pub fn limit_ns(&self, pace: Pace) -> Option<u64> {
        let period_ns = pace.per_ns as f64 / f64::from(pace.messages);
        let part = self.part_of_period.filter(|_| pace.messages > 0).map(|part| (part * period_ns) as u64);
        [part, self.absolute_ns].into_iter().flatten().min()
    }
}
