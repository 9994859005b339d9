//! The counts of samples that a subscription lost. A sample that is lost after the subscription was matched counts as
//! `overwritten`, a sample that is lost before counts as `before_matched`.

use super::Connection;
use std::num::NonZeroU64;

/// Samples that a subscription lost or skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Samples that left the history before they were taken, although the subscription was matched. This includes
    /// samples for which the depth of a KEEP_LAST subscription, or the memory of publishers that left, had no room.
    pub overwritten: u64,
    /// Samples that left the history before the publisher had discovered the subscription. A late RELIABLE KEEP_ALL
    /// subscription may take a few samples, then miss some, but misses none after the match.
    pub before_matched: u64,
    /// Samples that were skipped because they were older than their publisher's lifespan.
    pub expired: u64,
}

impl Losses {
    pub(crate) fn add(&mut self, more: Losses) {
        self.overwritten = self.overwritten.saturating_add(more.overwritten);
        self.before_matched = self.before_matched.saturating_add(more.before_matched);
        self.expired = self.expired.saturating_add(more.expired);
    }
}

impl Connection {
    /// Counts the `passed` samples from the sequence `first` on, which the reader skipped because they had left
    /// the history.
    #[cold]
    pub(super) fn count_losses(&mut self, first: u64, passed: u64, losses: &mut Losses) {
        self.note_match(); // the match may be new; samples that left the history before it count as `before_matched`
        let before_kept = self.kept_from.map_or(passed, |kept_from| kept_from.get().saturating_sub(first).min(passed));
        let before_matched = if self.is_matched() { before_kept } else { passed };
        self.lost = self.lost.saturating_add(passed - before_kept);
        losses.before_matched = losses.before_matched.saturating_add(before_matched);
        losses.overwritten = losses.overwritten.saturating_add(passed - before_matched);
        self.record.endpoint.count_lost(passed - before_matched);
    }

    /// Whether the subscription is matched: the publisher honours the subscription's pins, and waits for a gating
    /// subscription.
    fn is_matched(&self) -> bool {
        self.reader.seen_generation() >= self.joined_generation
    }

    /// For a gating reader (RELIABLE KEEP_ALL), stores the sequence of the oldest sample at the match in `kept_from`:
    /// from the match on, the publisher keeps this sample until the reader has taken it. For other readers, the join
    /// has set `kept_from`.
    #[cold]
    pub(super) fn note_match(&mut self) {
        if self.is_matched() {
            self.kept_from = self.kept_from.or_else(|| NonZeroU64::new(self.reader.oldest_kept()));
        }
    }
}
