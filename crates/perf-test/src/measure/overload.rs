//! Overload of a subscription: whether its messages wait longer from second to second, so that its queue will overflow.
//!
//! Source: the study of ROS 2 executors "Results of benchmarking tests on nuc6" adds up the latencies of a topic, L(t)
//! = Σ (received - published). By this study messages must be dropped as soon as L exceeds the period. But the sum of
//! any latencies exceeds the period sooner or later, so L is only reported here. The verdict depends on the *growth* of
//! the latency: a queue that is emptied as fast as it is filled has a constant latency, even if it is long.

use perf_worker::{clock::SECOND_NS, measure::moments::Moments};
use serde::{Deserialize, Serialize};

/// Student's t for a confidence interval of 99.9 %, by degrees of freedom. The confidence is high because a run judges
/// many subscriptions: at most one in a thousand appears to grow by chance.
const STUDENT: [(u64, f64); 11] = [
    (1, 636.6),
    (2, 31.6),
    (3, 12.92),
    (4, 8.61),
    (5, 6.87),
    (6, 5.96),
    (8, 5.04),
    (10, 4.59),
    (15, 4.07),
    (30, 3.65),
    (120, 3.37),
];

/// The queue in which messages wait for a subscription's callback.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Queue {
    /// The shortest period among the publishers that fill the queue, ns.
    pub period_ns: f64,
    /// The number of messages per second from all publishers that fill the queue.
    pub rate_hz: f64,
    /// The capacity of the queue in messages (the history depth); `None` if it is unlimited.
    pub depth: Option<u32>,
}

/// The latencies of a subscription in each second, reduced to the sums of a linear regression.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Growth {
    queue: Queue,
    cumulative_ns: f64,
    outgrown_after_s: Option<f64>,
    /// The moments of the regression's variables: the indices of the seconds with messages (`times_s`), and the mean
    /// latency of each such second in ns (`means_ns`).
    times_s: Moments,
    means_ns: Moments,
    /// The sum over all seconds of the deviation of `times_s` times the deviation of `means_ns` (from their means).
    products: f64,
    /// The mean latency in the last whole second with messages, ns.
    last_ns: f64,
}

/// The overload of a subscription: the sum and the growth of its latencies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Overload {
    /// The shortest period among the subscription's publishers, ns.
    pub period_ns: f64,
    /// Σ (received - published) of all messages of the subscription, ns.
    pub cumulative_latency_ns: f64,
    /// The time after the start at which `cumulative_latency_ns` exceeded the period, s; null if it did not.
    pub outgrows_period_after_s: Option<f64>,
    /// The growth of the mean latency, ns per second; null if fewer than three whole seconds had messages.
    pub growth_ns_per_s: Option<f64>,
    /// Half the width of the 99.9 % confidence interval of the growth, ns per second.
    pub growth_error_ns_per_s: Option<f64>,
    /// The time from the end of the run until the queue is full if the growth continues, s; null if the latency does
    /// not grow, or if the queue is unlimited.
    pub overflows_in_s: Option<f64>,
}

impl Growth {
    /// Creates an empty record for a queue. No latency has been added yet.
    #[must_use]
    pub fn new(queue: Queue) -> Growth {
        Growth { queue, ..Growth::default() }
    }

    /// Adds the latencies of one second, ns. Must be called for the seconds in order. If the last second is not
    /// `whole`, its latencies are added to the sum but do not count for the growth.
    pub fn add(&mut self, second: u64, whole: bool, latency_ns: &Moments) {
        if latency_ns.n == 0 {
            return;
        }
        let sum_ns = latency_ns.mean * latency_ns.n as f64;
        let missing_ns = self.queue.period_ns - self.cumulative_ns;
        if self.outgrown_after_s.is_none() && sum_ns > missing_ns {
            // Assumes that the messages are evenly distributed over the second.
            self.outgrown_after_s = Some(second as f64 + (missing_ns / sum_ns).clamp(0.0, 1.0));
        }
        self.cumulative_ns += sum_ns;
        if !whole {
            return;
        }
        let from_mean_s = second as f64 - self.times_s.mean;
        self.times_s.add(second as f64);
        self.means_ns.add(latency_ns.mean);
        self.products += from_mean_s * (latency_ns.mean - self.means_ns.mean);
        self.last_ns = latency_ns.mean;
    }

    /// The overload by the latencies added so far.
    #[must_use]
    pub fn overload(&self) -> Overload {
        let Queue { period_ns, rate_hz, depth } = self.queue;
        let (squares_s, squares_ns) = (self.times_s.m2, self.means_ns.m2);
        let line = (self.times_s.n > 2 && squares_s > 0.0).then(|| {
            let slope = self.products / squares_s;
            let rest = (squares_ns - slope * self.products).max(0.0);
            let freedom = self.times_s.n - 2;
            let student = STUDENT.iter().rev().find(|(of, _)| *of <= freedom).map_or(f64::INFINITY, |(_, t)| *t);
            (slope, student * (rest / freedom as f64 / squares_s).sqrt())
        });
        let growing = line.filter(|(slope, error)| slope - error > 0.0);
        let overflows_in_s = growing.zip(depth).map(|((slope, _), depth)| {
            let full_ns = f64::from(depth) / rate_hz * SECOND_NS as f64;
            (full_ns - self.last_ns).max(0.0) / slope
        });
        Overload {
            period_ns,
            cumulative_latency_ns: self.cumulative_ns,
            outgrows_period_after_s: self.outgrown_after_s,
            growth_ns_per_s: line.map(|(slope, _)| slope),
            growth_error_ns_per_s: line.map(|(_, error)| error),
            overflows_in_s: overflows_in_s.filter(|seconds| seconds.is_finite()),
        }
    }
}

impl Overload {
    /// The growth of the latency, ns per second; `None` if it is not significant (its confidence interval is not above
    /// 0).
    #[must_use]
    pub fn shown_growth_ns_per_s(&self) -> Option<f64> {
        self.growth_ns_per_s.filter(|growth| growth - self.growth_error_ns_per_s.unwrap_or(f64::INFINITY) > 0.0)
    }

    /// Whether messages will be dropped: the latency has grown within `seconds` by more than `late_ns`, the limit above
    /// which a message is late. A smaller growth is ignored, because it makes no message late.
    #[must_use]
    pub fn is_to_come(&self, seconds: f64, late_ns: u64) -> bool {
        self.shown_growth_ns_per_s().is_some_and(|growth| growth * seconds > late_ns as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: f64 = 1e6;
    /// A queue of ten messages at 100 Hz. It is full if the latency is 100 ms.
    const QUEUE: Queue = Queue { period_ns: 10.0 * MS, rate_hz: 100.0, depth: Some(10) };

    fn latency(ns: f64) -> Moments {
        Moments { n: 100, min: ns, max: ns, mean: ns, m2: 0.0 }
    }

    fn overload(latencies_ms: impl IntoIterator<Item = f64>) -> Overload {
        let mut growth = Growth::new(QUEUE);
        (0..).zip(latencies_ms).for_each(|(second, ms)| growth.add(second, true, &latency(ms * MS)));
        growth.overload()
    }

    #[test]
    fn latencies_add_up_and_outgrow_the_period_in_the_middle_of_a_second() {
        // The latencies of each second add up to 4 ms, so their sum exceeds the period of 10 ms after two and a half
        // seconds.
        let found = overload([0.04; 5]);
        assert!((found.cumulative_latency_ns - 20.0 * MS).abs() < 1.0, "{found:?}");
        assert!((found.outgrows_period_after_s.unwrap() - 2.5).abs() < 1e-9, "{found:?}");
        assert_eq!(overload([0.01; 5]).outgrows_period_after_s, None);
    }

    #[test]
    fn a_long_and_constant_latency_is_no_overload() {
        let found = overload((0..60).map(|second| 30.0 + if second % 2 == 0 { 0.3 } else { -0.3 }));
        assert_eq!((found.overflows_in_s, found.is_to_come(60.0, 2_000_000)), (None, false), "{found:?}");
        assert!(found.outgrows_period_after_s.unwrap() < 0.01);
    }

    #[test]
    fn a_latency_that_grows_fills_the_queue_in_the_time_that_is_left() {
        // The latency grows from 1 to 41 ms in eleven seconds. The queue has room for another 59 ms, at 4 ms per
        // second.
        let wave = |second: u64| if second.is_multiple_of(2) { 0.05 } else { -0.05 };
        let found = overload((0..11).map(|second| 1.0 + 4.0 * second as f64 + wave(second)));
        let growth = found.shown_growth_ns_per_s().unwrap();
        assert!((growth / MS - 4.0).abs() < 0.02, "{found:?}");
        assert!((found.overflows_in_s.unwrap() - 14.75).abs() < 0.1, "{found:?}");
        assert!(found.is_to_come(11.0, 2_000_000) && !found.is_to_come(11.0, 50_000_000));
        // A queue without a limit cannot overflow.
        let mut endless = Growth::new(Queue { depth: None, ..QUEUE });
        (0..11).for_each(|second| endless.add(second, true, &latency(second as f64 * MS)));
        assert_eq!(endless.overload().overflows_in_s, None);
        assert!(endless.overload().is_to_come(11.0, 2_000_000));
    }

    #[test]
    fn noise_and_few_seconds_show_no_growth() {
        let noise = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0, 5.0];
        assert_eq!(overload(noise).shown_growth_ns_per_s(), None);
        assert_eq!(overload([1.0, 9.0]).growth_ns_per_s, None);
        assert_eq!(overload([1.0, 2.0, 3.5]).shown_growth_ns_per_s(), None);
        let mut growth = Growth::new(QUEUE);
        growth.add(0, false, &latency(MS));
        growth.add(1, true, &Moments::default());
        assert_eq!((growth.times_s.n, growth.overload().growth_ns_per_s), (0, None));
    }
}
