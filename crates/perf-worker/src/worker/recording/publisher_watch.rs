//! Observes the publishers of a subscription's topic: whether there are any, and if not, for what reason.

use super::sample_recorder::SampleRecorder;
use crate::{
    backend::Matched,
    clock::SECOND_NS,
    worker::{context::Context, protocol::EndpointReport},
};

/// The interval between two checks of the publishers.
const CHECK_INTERVAL_NS: i64 = SECOND_NS / 10;

/// The publishers of a topic as its subscription sees them.
pub struct PublisherWatch {
    start_ns: i64,
    /// Whether the publishers belong to this run. In this case the checks stop after the first sample.
    own: bool,
    publisher_seen: bool,
    alone_since_ns: Option<i64>,
    next_check_ns: i64,
    /// The reasons why publishers were not matched, kept until a sample arrives. They must be kept because the
    /// middleware cannot give the reason after the publisher has left.
    mismatches: Vec<String>,
}

impl PublisherWatch {
    /// Creates the watch of a subscription whose measurement starts at `start_ns`.
    pub fn new(context: &Context, start_ns: i64) -> PublisherWatch {
        PublisherWatch {
            start_ns,
            own: context.plan.publishers > 0,
            publisher_seen: false,
            alone_since_ns: None,
            next_check_ns: start_ns,
            mismatches: Vec::new(),
        }
    }

    /// Checks the publishers if [`CHECK_INTERVAL_NS`] has passed. `taken` is the number of samples received so far.
    pub fn check<M: Matched + ?Sized>(&mut self, subscription: &mut M, taken: u64, now_ns: i64) -> Result<(), String> {
        if now_ns < self.next_check_ns || (self.own && taken > 0) {
            return Ok(());
        }
        self.next_check_ns = now_ns + CHECK_INTERVAL_NS;
        if taken == 0 {
            let found = subscription.mismatches();
            if !found.is_empty() {
                self.mismatches = found;
            }
        }
        let alone = subscription.matched()?.is_none();
        self.publisher_seen |= !alone || taken > 0;
        if !alone {
            self.alone_since_ns = None;
        } else if self.publisher_seen {
            self.alone_since_ns.get_or_insert(now_ns - self.start_ns);
        }
        Ok(())
    }

    /// The subscription's report at the end of the run.
    pub fn report(&mut self, recorder: &SampleRecorder) -> EndpointReport {
        let mismatches = if recorder.taken == 0 { std::mem::take(&mut self.mismatches) } else { Vec::new() };
        let sequences = &recorder.sequences;
        let (last_seen, before_matched) = (sequences.last_seen(), sequences.before_matched());
        let alone_since_ns = self.alone_since_ns;
        EndpointReport { last_seen, before_matched, alone_since_ns, mismatches, ..EndpointReport::default() }
    }
}
