//! What one publisher or one subscription counted over a stretch of time.
//!
//! Filled by the worker loops, one per second; merged by the coordinator into rows and into the whole
//! run. Plain sums and moments, so that merging in any order gives the same result.

use serde::{Deserialize, Serialize};

use super::moments::Moments;

/// What a publisher did. Times in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sent {
    /// Samples published.
    pub samples: u64,
    /// Of these, published while no subscription was matched.
    pub unmatched: u64,
    /// Attempts that the middleware refused; the message was not sent.
    pub refused: u64,
    /// Messages that were due before the end and not sent any more.
    pub unsent: u64,
    /// Time left until the next message was due, seen after each publish; negative when late.
    pub reserve_ns: Moments,
    /// Actual send time minus the time when the message was due.
    pub lateness_ns: Moments,
    /// From having woken up for a message to its time stamp: loaning the slot.
    pub prepare_ns: Moments,
}

impl Sent {
    /// Adds another stretch or another publisher.
    pub fn merge(&mut self, other: &Sent) {
        self.samples += other.samples;
        self.unmatched += other.unmatched;
        self.refused += other.refused;
        self.unsent += other.unsent;
        self.reserve_ns.merge(&other.reserve_ns);
        self.lateness_ns.merge(&other.lateness_ns);
        self.prepare_ns.merge(&other.prepare_ns);
    }

    /// Whether nothing was sent or tried.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.samples == 0 && self.refused == 0
    }
}

/// What a subscription got of the samples that were sent within the measurement. Times in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Received {
    /// Samples taken, duplicates not counted.
    pub samples: u64,
    /// The bytes of their bodies.
    pub bytes: u64,
    /// Samples taken that were sent before the run began: a late joiner's history. They are in no other count.
    pub history: u64,
    /// Samples skipped in the publishers' sequences.
    pub missed: u64,
    /// Samples that came after a later one; each had been counted in `missed`.
    pub reordered: u64,
    /// Samples taken a second time.
    pub duplicates: u64,
    /// Samples that left the history before they were taken, by the middleware's count.
    pub overwritten: u64,
    /// Samples whose own number was not the one under which they came: their memory was not theirs.
    pub misnumbered: u64,
    /// Samples received before they were sent, by the clock; they are in no latency statistic.
    pub negative: u64,
    /// Attempts to take that the middleware refused.
    pub refused: u64,
    /// From the stamp in the message to its reception.
    pub latency_ns: Moments,
}

impl Received {
    /// Samples lost, as far as the sequences show it.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.missed.saturating_sub(self.reordered)
    }

    /// Whether nothing was taken, missed or tried.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.samples + self.history + self.missed + self.duplicates + self.refused == 0
    }

    /// Adds another stretch or another subscription.
    pub fn merge(&mut self, other: &Received) {
        self.samples += other.samples;
        self.bytes += other.bytes;
        self.history += other.history;
        self.missed += other.missed;
        self.reordered += other.reordered;
        self.duplicates += other.duplicates;
        self.overwritten += other.overwritten;
        self.misnumbered += other.misnumbered;
        self.negative += other.negative;
        self.refused += other.refused;
        self.latency_ns.merge(&other.latency_ns);
    }
}
