//! The rules that the samples and losses of a subscription must obey.
//!
//! The rules:
//! - each sample has the bytes that its publisher wrote, and the sequence numbers of a publisher only increase;
//! - a gap in the sequence numbers is at most as large as the counted losses; on a topic with one publisher, they are
//!   equal;
//! - there is no gap if publisher and subscription are RELIABLE and KEEP_ALL, except for samples that were lost before
//!   the two endpoints were matched;
//! - a TRANSIENT_LOCAL subscription that joins late gets the history of a TRANSIENT_LOCAL publisher.

use super::{
    message,
    topic::{Offer, Topic},
};
use crate::{
    accounts::counts::{Count, count},
    outcome::Result,
};
use gantry_shm::{Durability, Gid, History, Losses, Qos, Reliability, Sample};
use rustix::time::{ClockId, clock_gettime};
use std::collections::HashMap;

/// Checks the rules for one subscription.
pub struct Checker {
    topic: &'static Topic,
    qos: Qos,
    publishers: HashMap<Gid, PublisherState>,
    losses: Losses,
    /// The number of counted losses for which no gap was found yet. No sample of their publisher was taken before the
    /// loss, or none after it.
    unexplained: u64,
    /// The part of `unexplained` that was lost before the two endpoints were matched.
    unexplained_before_matched: u64,
}

/// The state of one publisher, as the subscription has seen it.
struct PublisherState {
    /// The sequence number of the newest sample that was taken.
    last: u64,
    /// The last sequence number of the history that the publisher had when the subscription joined, and the time of the
    /// first take. All samples of the history must be older than this time.
    history: Option<(u64, u64)>,
}

impl Checker {
    pub fn new(topic: &'static Topic, qos: Qos) -> Checker {
        let (publishers, losses) = (HashMap::new(), Losses::default());
        Checker { topic, qos, publishers, losses, unexplained: 0, unexplained_before_matched: 0 }
    }

    /// Adds the losses that happened since the last call. `losses` are the totals.
    pub fn lost(&mut self, losses: Losses) -> Result<()> {
        let (before, after) = (self.losses, losses);
        let (Some(overwritten), Some(before_matched)) = (
            after.overwritten.checked_sub(before.overwritten),
            after.before_matched.checked_sub(before.before_matched),
        ) else {
            return Err(self.sentence(&format!("its losses went from {before:?} back to {after:?}")));
        };
        self.losses = losses;
        self.unexplained += overwritten + before_matched;
        self.unexplained_before_matched += before_matched;
        count(Count::Overwritten, overwritten);
        count(Count::BeforeMatched, before_matched);
        Ok(())
    }

    /// Checks a sample that the subscription took. `losses` are the subscription's current losses.
    pub fn took(&mut self, sample: &Sample, losses: Losses) -> Result<()> {
        let info = sample.info();
        let (gid, sequence) = (info.publisher_gid, info.sequence);
        message::check(sample.bytes(), gid, sequence)
            .map_err(|why| self.sentence(&format!("it took sample {sequence} of {gid:02x?}, but {why}")))?;
        count(Count::Checked, 1);
        count(Count::CheckedBytes, sample.bytes().len() as u64);
        self.lost(losses)?;
        let offer = Offer::from_time(&info);
        match self.publishers.get(&gid).map(|seen| (seen.last, seen.history)) {
            Some((last, history)) => {
                self.follows(gid, offer, last, sequence)?;
                self.is_of_history(gid, history, sequence, info.source_time_ns)?;
                self.publishers.entry(gid).and_modify(|seen| seen.last = sequence);
            }
            None => {
                let history = self.history_from(offer, sequence);
                if self.publishers.is_empty() {
                    // These losses need no gap: they happened before the first sample of any publisher was taken.
                    (self.unexplained, self.unexplained_before_matched) = (0, 0);
                }
                self.publishers.insert(gid, PublisherState { last: sequence, history });
            }
        }
        Ok(())
    }

    /// Checks that the gap between two samples agrees with the counted losses.
    fn follows(&mut self, gid: Gid, offer: Offer, last: u64, sequence: u64) -> Result<()> {
        if sequence <= last {
            return Err(self.sentence(&format!("sample {sequence} of {gid:02x?} came after sample {last}")));
        }
        let gap = sequence - last - 1;
        let counted = self.unexplained;
        if gap > counted || self.topic.is_survivors && gap < counted {
            return Err(self.sentence(&format!(
                "sample {sequence} of {gid:02x?} came after sample {last}, and {counted} losses were counted"
            )));
        }
        self.unexplained -= gap;
        if self.keeps_all() && offer.gates() {
            let before_matched = self.unexplained_before_matched;
            if gap > before_matched {
                return Err(self.sentence(&format!(
                    "sample {sequence} of {gid:02x?} came after sample {last}: both sides are RELIABLE and KEEP_ALL, and \
                     only {before_matched} were counted as lost before they were matched"
                )));
            }
            self.unexplained_before_matched -= gap;
        }
        Ok(())
    }

    fn keeps_all(&self) -> bool {
        self.qos.history == History::KeepAll && self.qos.reliability == Reliability::Reliable
    }

    /// Returns the state `history` if `first`, the first sequence number, shows that a history must arrive: the last
    /// sequence number of the history, and the current time. Otherwise returns `None`.
    fn history_from(&self, offer: Offer, first: u64) -> Option<(u64, u64)> {
        let wants = self.qos.durability == Durability::TransientLocal && offer.is_transient_local;
        // The start of the history is unknown after a loss. It is also unknown if the subscription has skipped samples
        // of several publishers because of its depth. A KEEP_ALL publisher (depth 0) has a history of unknown length.
        let was_skipped = self.losses.overwritten > 0 && !self.topic.is_survivors;
        if !wants || first == 1 || self.unexplained > 0 || was_skipped || offer.depth == 0 {
            return None;
        }
        let asked = if self.qos.history == History::KeepAll { u32::MAX } else { self.qos.depth };
        Some((first - 1 + u64::from(asked.min(offer.depth)), now_ns()))
    }

    /// Checks that a sample up to `end` belongs to the history: it was published before the subscription joined. `end`
    /// is computed from the first sample that was taken. So a newer sample up to `end` means that the first sample was
    /// not the oldest one of the history.
    fn is_of_history(&self, gid: Gid, history: Option<(u64, u64)>, sequence: u64, source_time_ns: u64) -> Result<()> {
        let Some((end, joined_ns)) = history.filter(|&(end, _)| sequence <= end) else { return Ok(()) };
        if source_time_ns > joined_ns {
            return Err(self.sentence(&format!(
                "the history of {gid:02x?} should have ended with sample {end}, but sample {sequence} was published {} ns \
                 after the first one was taken",
                source_time_ns - joined_ns
            )));
        }
        count(Count::Histories, u64::from(sequence == end));
        Ok(())
    }

    /// Makes an error text: the topic and the QoS of the subscription, and `what`.
    pub fn sentence(&self, what: &str) -> String {
        format!("subscription to {} ({:?}): {what}", self.topic.name, self.qos)
    }
}

/// The current time of CLOCK_MONOTONIC, which publishers use.
pub fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
