//! A connection before its join: its record is there, but the publisher does not look for it yet. Control path.

use super::Connection;
use crate::{
    describe::{
        description::EndpointDescription,
        qos::{Durability, History, MAX_DEPTH, Qos, Reliability, limit_ns},
    },
    domain::process_file::publisher_file_name,
    error::Result,
    protocol::{
        layout::*,
        reader::{Reader, Start},
    },
    subscribe::owned_record::{OwnedRecord, places::PlaceMemory},
};
use std::{num::NonZeroU64, sync::Arc};

/// State and depth of the record that a subscription has for a publisher that it is matched with.
pub(crate) fn record_words(publisher: &Qos, subscription: &Qos) -> (u32, u32) {
    let is_keep_all = |qos: &Qos| qos.history == History::KeepAll && qos.reliability == Reliability::Reliable;
    let state = if is_keep_all(subscription) && is_keep_all(publisher) { READER_GATING } else { READER_ACTIVE };
    let depth = if subscription.history == History::KeepLast { subscription.depth } else { MAX_DEPTH };
    (state, depth)
}

/// A connection before its join: its record is there, but the publisher does not look for it yet. Several are made before the
/// generation is raised, once.
pub(crate) struct PendingConnection {
    record: Arc<OwnedRecord>,
    start: Start,
    depth: u32,
    is_gating: bool,
    lifespan_ns: u64,
}

impl PendingConnection {
    /// Maps the publisher of the process with that id and makes the record, with a cursor that wants everything. `is_older`: the publisher was there before
    /// the subscription, which misses what was published until now. `NotFound` in the error if the publisher left meanwhile.
    pub(crate) fn new(
        memory: &Arc<PlaceMemory>,
        process: &[u8; 16],
        publisher: &EndpointDescription,
        qos: &Qos,
        is_older: bool,
    ) -> Result<PendingConnection> {
        let domain = &memory.domain;
        let mapping = domain.publisher_mapping(&publisher_file_name(process, publisher.number), publisher.key)?;
        mapping.region.prefault_new(&domain.directory);
        let (state, depth) = record_words(&publisher.qos, qos);
        // The publisher may have more samples than its depth, for others or not retired yet; a late joiner cannot count on them.
        let offered = if publisher.qos.history == History::KeepLast { publisher.qos.depth } else { MAX_DEPTH };
        let start = match qos.durability {
            Durability::TransientLocal => Start::History(depth.min(offered).into()),
            // Read before the record is visible: a sample that is published after its publisher saw the record must be taken.
            Durability::Volatile if is_older => Start::At(mapping.newest()?.1 + 1),
            Durability::Volatile => Start::At(1),
        };
        let record = domain.process.take_record(&domain.directory, publisher.key, state, depth)?;
        let record = OwnedRecord::new(memory.clone(), mapping, record);
        let is_gating = state == READER_GATING;
        Ok(PendingConnection { record, start, depth, is_gating, lifespan_ns: limit_ns(publisher.qos.lifespan) })
    }

    /// The publisher's key.
    pub(crate) fn key(&self) -> u64 {
        self.record.mapping.key
    }

    /// Joins: chooses the first sample. `generation` was raised after [`PendingConnection::new`], so that a publisher that
    /// reclaims from here on sees the record.
    pub(crate) fn join(self, generation: u64) -> Result<Connection> {
        let mapping = self.record.mapping.clone();
        let (ring, newest) = mapping.newest()?;
        let limits = (self.depth, mapping.inline_bytes().min(mapping.payload_bytes));
        let reader = Reader::new(mapping.header, ring, *self.record.record(), limits, self.start);
        let oldest_kept = reader.oldest_kept();
        let of_depth = newest.saturating_add(1).saturating_sub(self.depth.into());
        let first = reader.next.max(oldest_kept.min(newest.saturating_add(1))).max(of_depth);
        let history_end = if matches!(self.start, Start::History(_)) { newest } else { 0 };
        let mut connection = Connection {
            mapping,
            reader,
            cell: self.record.cell,
            record: self.record,
            uncommon: None,
            joined_generation: generation,
            kept_from: NonZeroU64::new(oldest_kept).filter(|_| !self.is_gating),
            first,
            lost: 0,
        };
        if self.is_gating || self.lifespan_ns < u64::MAX || history_end > 0 {
            let uncommon = connection.uncommon_mut();
            (uncommon.is_gating, uncommon.lifespan_ns) = (self.is_gating, self.lifespan_ns);
            uncommon.history_end = history_end;
        }
        if self.is_gating {
            connection.ring_blocked_publisher(); // it may wait since it saw the cursor of 0
        }
        Ok(connection)
    }
}
