//! The list of a publisher's reader records, as of one generation of the topic's readers.
//!
//! Invariant C1: a roster contains every reader record that was made for its publisher before the roster's
//! `generation`. Nothing here allocates.

use crate::protocol::{
    layout::{READER_ACTIVE, READER_GATING, ReaderRecord},
    shared::InRegion,
    sync::{Ordering::Relaxed, Site, acquire_fence},
};

/// The reader records of a publisher, each with a `K` that keeps the record's memory mapped.
pub(crate) struct Roster<K> {
    /// The publisher's key, which its readers store in their reader records.
    key: u64,
    /// The generation of the topic's readers up to which this roster contains all joins and leaves.
    pub(crate) generation: u64,
    pub(crate) records: Vec<(InRegion<ReaderRecord>, K)>,
}

impl<K> Roster<K> {
    /// Creates a roster. The caller makes sure that C1 holds for `records`.
    pub(crate) fn new(key: u64, generation: u64, records: Vec<(InRegion<ReaderRecord>, K)>) -> Roster<K> {
        Roster { key, generation, records }
    }

    /// The reader records of subscriptions that still take samples. The key is compared, because a record whose
    /// subscription has left may belong to another publisher by now.
    pub(crate) fn active(&self) -> impl Iterator<Item = &(InRegion<ReaderRecord>, K)> {
        self.records.iter().filter(|(record, _)| {
            let takes = matches!(record.state.load(Relaxed), READER_ACTIVE | READER_GATING);
            takes && record.key.load(Relaxed) == self.key
        })
    }

    /// The number of subscriptions that still take samples.
    pub(crate) fn count(&self) -> usize {
        self.active().count()
    }

    /// The number of samples that the deepest subscription wants kept.
    pub(crate) fn deepest(&self) -> usize {
        self.active().map(|(record, _)| record.depth.load(Relaxed) as usize).max().unwrap_or(0)
    }

    /// The oldest sequence that a subscription may still take, 0 = all samples, `None` = there is no subscription.
    /// Relaxed: the result only decides how long samples are kept; samples in use are protected by their pins.
    pub(crate) fn slowest_cursor(&self) -> Option<u64> {
        self.active().map(|(record, _)| record.cursor.load(Relaxed)).min()
    }

    /// The oldest sequence that a gating subscription has not taken yet; `u64::MAX` if there is no such sequence.
    pub(crate) fn gating_sequence(&self) -> u64 {
        let gating = self.active().filter(|(record, _)| record.state.load(Relaxed) == READER_GATING);
        let sequence = gating.map(|(record, _)| record.cursor.load(Relaxed)).min().unwrap_or(u64::MAX);
        acquire_fence(Site::GateLook); // (6)
        sequence
    }

    /// Calls `found` with each sequence that is pinned.
    pub(crate) fn look_at_pins(&self, mut found: impl FnMut(u64)) {
        let pins = self.records.iter().flat_map(|(record, _)| record.pins.iter().map(|pin| pin.load(Relaxed)));
        pins.filter(|&sequence| sequence != 0).for_each(&mut found);
        acquire_fence(Site::PinsLook); // (4): the readers' last reads come before the next writes of their slots
    }
}
