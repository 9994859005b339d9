//! The memory that samples need: a reader record of this process's file, with the publisher's mapping, for a sample in
//! a slot; a place of the subscription, for each sample, and for one that was copied nothing else.
//!
//! Samples are not counted. Invariants:
//! - O1: a record stays while its connection keeps it or any of its pins is set; it keeps the places. Places stay while
//!   their subscription or a record keeps them, or any of them is used. Only the connection sets pins, and only the
//!   thread that takes uses a place; a sample in a slot owns a pin and a place, a copied one a place.
//! - O2: a record with a pin that is set, or places of which one is used, are an *orphan* when the last owner lets go:
//!   a cell keeps them, and the flag there is set before pins or places are read once more. The sample that releases
//!   the last one finds the flag (pair 9 of `protocol`).
//! - O3: a sample that released its pin, or the place of its copy, touches the cell alone, which is never freed. It may
//!   be another owner's cell by then, so the flag is a hint; the orphan in the cell is looked at under its lock, and
//!   taken out once.

mod free_search;
mod orphan;
pub(crate) mod places;

pub(crate) use self::{free_search::FreeSearch, orphan::OrphanCell};
use self::{orphan::Orphan, places::PlaceMemory};
use crate::{
    domain::{process_file::OwnRecord, publisher_mapping::PublisherMapping},
    protocol::{layout::ReaderRecord, shared::InRegion},
};
use std::sync::Arc;

/// A record that is free again when this is dropped. A pin of 0 is free. Control path: takes and releases use what it
/// keeps, but do not read it.
pub(crate) struct OwnedRecord {
    /// Keeps the pinned samples mapped.
    pub(crate) mapping: Arc<PublisherMapping>,
    /// In the process file, which the domain keeps.
    own: OwnRecord,
    pub(crate) cell: &'static OrphanCell,
    /// Keeps the places of the samples, and the domain.
    pub(crate) memory: Arc<PlaceMemory>,
}

impl OwnedRecord {
    /// `own` was taken from the process file of the domain.
    pub(crate) fn new(memory: Arc<PlaceMemory>, mapping: Arc<PublisherMapping>, own: OwnRecord) -> Arc<OwnedRecord> {
        Arc::new(OwnedRecord { mapping, own, cell: OrphanCell::take(), memory })
    }

    /// The record, which is this connection's for as long as `self` is kept.
    pub(crate) fn record(&self) -> &InRegion<ReaderRecord> {
        &self.own.record
    }

    /// The connection is about to drop it: its last sample frees the record, or the connection does.
    pub(crate) fn leave(self: &Arc<OwnedRecord>) {
        Orphan::Record(self.clone()).leave(self.cell);
    }
}

impl Drop for OwnedRecord {
    fn drop(&mut self) {
        // No pin is set (O1).
        if self.memory.domain.epoch.is_current() {
            self.memory.domain.process.free_record(self.own);
            self.cell.give_back();
        }
    }
}
