//! The rules for the samples and the losses of a subscription.
//!
//! The rules:
//! - the bytes of each sample are its publisher's, and the sequence numbers of a publisher only increase;
//! - no gap is larger than the counted losses; on a topic with one publisher, both are equal;
//! - there is no gap at all if publisher and subscription are RELIABLE and KEEP_ALL, except for samples that were
//!   lost before the two were matched;
//! - a late joiner that requests TRANSIENT_LOCAL gets the history of a TRANSIENT_LOCAL publisher.

use crate::{
    Result,
    counts::{Count, count},
    message,
    topic::{Offer, Topic},
};
use gantry_shm::{Durability, Gid, History, Losses, Qos, Reliability, Sample};
use rustix::time::{ClockId, clock_gettime};
use std::collections::HashMap;

/// The rules for one subscription.
pub struct Checker {
    topic: &'static Topic,
    qos: Qos,
    publishers: HashMap<Gid, PublisherState>,
    losses: Losses,
    /// The number of counted losses that no gap has shown until now: they come from publishers of which no sample
    /// was taken before the loss, or after it.
    unexplained: u64,
    /// The number of losses among `unexplained` from before the two endpoints were matched.
    unexplained_before_matched: u64,
}

/// The state of one publisher.
struct PublisherState {
    /// The sequence number of the sample that was taken last.
    last: u64,
    /// The last sequence number of the publisher's history, and the time at which the first sample was taken. The
    /// history was published before that time.
    history: Option<(u64, u64)>,
}

impl Checker {
    pub fn new(topic: &'static Topic, qos: Qos) -> Checker {
        let (publishers, losses) = (HashMap::new(), Losses::default());
        Checker { topic, qos, publishers, losses, unexplained: 0, unexplained_before_matched: 0 }
    }

    /// Adds the losses since the last call.
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

    /// Checks a sample that the subscription took. `losses` are the subscription's losses now.
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
                    // The losses happened before the first sample of any publisher was taken.
                    (self.unexplained, self.unexplained_before_matched) = (0, 0);
                }
                self.publishers.insert(gid, PublisherState { last: sequence, history });
            }
        }
        Ok(())
    }

    /// Checks that the gap between two samples agrees with the losses.
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

    /// If there must be a history: its last sequence number, if it begins with `first`, and the time before which
    /// that sample was published.
    fn history_from(&self, offer: Offer, first: u64) -> Option<(u64, u64)> {
        let wants = self.qos.durability == Durability::TransientLocal && offer.is_transient_local;
        // After a loss, the first sample of the history is not known; for KEEP_ALL, the length of the history is
        // not known, either. The depth of the subscription may also have skipped the first samples of several
        // publishers' histories before the first sample was taken.
        let was_skipped = self.losses.overwritten > 0 && !self.topic.is_survivors;
        if !wants || first == 1 || self.unexplained > 0 || was_skipped || offer.depth == 0 {
            return None;
        }
        let asked = if self.qos.history == History::KeepAll { u32::MAX } else { self.qos.depth };
        Some((first - 1 + u64::from(asked.min(offer.depth)), now_ns()))
    }

    /// Checks the age of a sample of the history that the publisher had when the subscription joined. A history
    /// ends with the newest sample at the time when the subscription joined. `end` is counted from the first
    /// sample that was taken, so if a sample up to `end` was published after the join, the first one taken was not
    /// the oldest one of the history.
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

    /// The sentence of an error of the subscription: its topic, its QoS, and `what`.
    pub fn sentence(&self, what: &str) -> String {
        format!("subscription to {} ({:?}): {what}", self.topic.name, self.qos)
    }
}

/// The current time, by the clock that publishers use.
pub fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
