//! The end of a receiving endpoint: the moment when all sent samples have arrived, or no more are expected.
//!
//! Subscriptions and relays look for this end after the order `Drain`. The timeout is longer than every observed
//! latency, so that a slow sample does not count as lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::{
    clock::SECOND_NS,
    worker::{
        context::{Context, NOT_DRAINING},
        protocol::times::{LONGEST_DRAIN_NS, SHORTEST_DRAIN_NS},
    },
};

/// The timeout is this multiple of the longest latency, or of the period if that is longer.
const TIMEOUT_FACTOR: i64 = 2;
/// The longest wait for a sample. It is also the longest delay until an endpoint detects the end of the run.
const LONGEST_WAIT_NS: i64 = SECOND_NS / 10;
/// The longest wait for a sample after the order `Drain`.
const DRAIN_WAIT_NS: i64 = SECOND_NS / 100;

/// Detects the end of a receiving endpoint.
pub struct DrainMonitor {
    expected: Arc<AtomicU64>,
    /// Whether the publishers belong to this run.
    own: bool,
    period_ns: i64,
    since_ns: Option<i64>,
    last_arrival_ns: i64,
    longest_latency_ns: i64,
    /// Whether no sample has arrived yet, so that no latency is known.
    silent: bool,
}

impl DrainMonitor {
    /// Creates the monitor of an endpoint whose measurement starts at `start_ns`.
    pub fn new(context: &Context, start_ns: i64) -> DrainMonitor {
        DrainMonitor {
            expected: context.expected.clone(),
            own: context.plan.publishers > 0,
            period_ns: context.plan.pace.period_ns().unwrap_or(0),
            since_ns: None,
            last_arrival_ns: start_ns,
            longest_latency_ns: 0,
            silent: true,
        }
    }

    /// Records a sample and its latency.
    pub fn arrived(&mut self, received_ns: i64, latency_ns: i64) {
        self.silent = false;
        self.last_arrival_ns = received_ns;
        self.longest_latency_ns = self.longest_latency_ns.max(latency_ns);
    }

    /// Whether all sent samples have been received or overwritten. `accounted` is the number of such samples.
    pub fn is_complete(&self, accounted: u64) -> bool {
        accounted >= self.expected.load(Ordering::Relaxed)
    }

    /// Whether the timeout has passed at `now_ns`, so that no more samples are expected. For publishers of this run the
    /// timeout counts from the last sample or, if later, from the order `Drain`. Publishers of other programs do not
    /// stop, so for them it counts from the order `Drain`.
    pub fn is_over(&mut self, now_ns: i64) -> bool {
        if !self.has_begun() {
            return false;
        }
        let since_ns = *self.since_ns.get_or_insert(now_ns);
        now_ns - if self.own { self.last_arrival_ns.max(since_ns) } else { since_ns } > self.timeout_ns()
    }

    /// The longest time to wait for a sample. `hand_over_ns` is the time at which the next row must be sent to the
    /// reporting thread.
    pub fn wait(&self, now_ns: i64, hand_over_ns: i64) -> Duration {
        let longest_ns = if self.has_begun() { DRAIN_WAIT_NS } else { LONGEST_WAIT_NS };
        Duration::from_nanos((hand_over_ns - now_ns).clamp(1, longest_ns) as u64)
    }

    fn has_begun(&self) -> bool {
        self.expected.load(Ordering::Relaxed) != NOT_DRAINING
    }

    fn timeout_ns(&self) -> i64 {
        if self.silent {
            return LONGEST_DRAIN_NS;
        }
        let longest_ns = self.longest_latency_ns.max(self.period_ns);
        longest_ns.saturating_mul(TIMEOUT_FACTOR).clamp(SHORTEST_DRAIN_NS, LONGEST_DRAIN_NS)
    }
}
