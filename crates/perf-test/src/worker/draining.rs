//! When an endpoint that receives is done: everything that was sent is there, or nothing more is to be expected.
//!
//! Used by subscriptions and relays after the order to drain. Patience is long beside every latency that was seen: a sample that is
//! slow must not become one that is lost.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::{Context, NOT_DRAINING};
use crate::clock::SECOND_NS;

/// The least time to wait for what is missing.
const LEAST_PATIENCE_NS: i64 = SECOND_NS;
/// The most: less than the coordinator's.
const MOST_PATIENCE_NS: i64 = 8 * SECOND_NS;
/// Patience is so many times the longest latency, or period.
const TIMES: i64 = 2;
/// The longest wait for a sample; how long anything may take to notice that the run is over.
const LONGEST_WAIT_NS: i64 = SECOND_NS / 10;
/// The same while draining.
const DRAIN_WAIT_NS: i64 = SECOND_NS / 100;

/// How far an endpoint is in that.
pub struct Draining<'a> {
    context: &'a Context,
    since_ns: Option<i64>,
    last_arrival_ns: i64,
    longest_latency_ns: i64,
    /// Nothing has come, so nothing is known of latencies.
    silent: bool,
}

impl<'a> Draining<'a> {
    /// Of an endpoint that begins to receive at `start_ns`.
    pub fn new(context: &'a Context, start_ns: i64) -> Draining<'a> {
        Draining { context, since_ns: None, last_arrival_ns: start_ns, longest_latency_ns: 0, silent: true }
    }

    /// A sample came, so long after it was sent.
    pub fn arrived(&mut self, received_ns: i64, latency_ns: i64) {
        self.silent = false;
        self.last_arrival_ns = received_ns;
        self.longest_latency_ns = self.longest_latency_ns.max(latency_ns);
    }

    /// Whether as many as were sent have been received or overwritten.
    pub fn is_complete(&self, accounted: u64) -> bool {
        accounted >= self.context.flags.expected.load(Ordering::Relaxed)
    }

    /// Whether nothing more is to be expected at `now_ns`: of this run's publishers after a silence, of others, which go on, after a while.
    pub fn is_over(&mut self, now_ns: i64) -> bool {
        if !self.has_begun() {
            return false;
        }
        let since_ns = *self.since_ns.get_or_insert(now_ns);
        let own = self.context.spec.has_publishers();
        now_ns - if own { self.last_arrival_ns.max(since_ns) } else { since_ns } > self.patience_ns()
    }

    /// How long to wait for a sample at most, if a row ends at `row_end_ns`.
    pub fn wait(&self, now_ns: i64, row_end_ns: i64) -> Duration {
        let longest_ns = if self.has_begun() { DRAIN_WAIT_NS } else { LONGEST_WAIT_NS };
        Duration::from_nanos((row_end_ns - now_ns).clamp(1, longest_ns) as u64)
    }

    fn has_begun(&self) -> bool {
        self.context.flags.expected.load(Ordering::Relaxed) != NOT_DRAINING
    }

    fn patience_ns(&self) -> i64 {
        if self.silent {
            return MOST_PATIENCE_NS;
        }
        let period_ns = SECOND_NS / i64::from(self.context.spec.rate_hz.max(1));
        let longest_ns = self.longest_latency_ns.max(period_ns);
        longest_ns.saturating_mul(TIMES).clamp(LEAST_PATIENCE_NS, MOST_PATIENCE_NS)
    }
}
