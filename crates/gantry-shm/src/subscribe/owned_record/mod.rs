//! The memory that samples need. A sample in a slot needs a reader record of this process's file, with the publisher's
//! mapping, and a place (private memory of the subscription, see `places`). A copied sample needs only a place.
//!
//! Samples are not reference-counted. Invariants:
//! - O1: a reader record stays while its connection keeps it or any of its pins is set; a record keeps the places.
//!   Places stay while their subscription or a record keeps them, or a sample uses any of them. Only the connection
//!   sets pins, and only the thread that takes begins the use of a place. A sample in a slot owns a pin and a place; a
//!   copied sample owns a place.
//! - O2: a reader record with a set pin, or places of which one is used, become an *orphan* when the last owner leaves.
//!   A cell keeps the orphan, and the cell's flag is set before pins or places are read once more. The sample that
//!   releases the last pin or place finds the flag (pair 9 of `protocol`).
//! - O3: after a sample has released its pin, or the place of its copy, it accesses only the cell, which is never
//!   freed. The cell may have another orphan by then, so the flag is a hint. The orphan is examined under the cell's
//!   lock, and taken out once.
//!
//! The owner that leaves last frees the memory. A subscription drops its connections before its places, so the table
//! lists all possible orders. The control thread may keep the discovery, which is a part of the subscription, until the
//! end of a task. `Sample::drop` ends the use of the place, releases the pin if there is one, and looks at the flag of
//! a cell: a sample in a slot looks at its record's cell, a copied sample at the cell of the places.
//!
//! | sample | leaves last | the memory is kept by | the last owner frees | model |
//! | --- | --- | --- | --- | --- |
//! | slot | connection | the connection, its record's owner; the subscription has the places | the drop of the connection finds no pin: the record, and the mapping if no other record has it | `orphan::RECORD` |
//! | slot | sample, after its connection | the record's cell: record, mapping; the subscription has the places | `free_orphan` of the sample: record and mapping; the place is used again | `orphan::RECORD`, `place::USED_AGAIN` |
//! | slot | sample, after its subscription | the record's cell: record, mapping, and through the record, the places and the domain | `free_orphan` of the sample: record and mapping, then the places, if no copy uses one, and the domain | `orphan::RECORD`, then `orphan::PLACES` |
//! | slot | subscription | the subscription: the places; the connection has freed the record before | the drop of the subscription finds no place that is used: the places | `orphan::PLACES` |
//! | copy | connection | the subscription; a copy needs neither the record nor the mapping | the drop of the connection frees nothing of the copy | `place::USED_AGAIN` |
//! | copy | subscription | the subscription | the drop of the subscription finds no place that is used: the places | `orphan::PLACES` |
//! | copy | sample, after its subscription | the places' cell: the blocks alone, neither mapping nor domain | `free_orphan` of the sample: the blocks | `orphan::PLACES` |
//! | copy | sample, after its subscription, while the record of a slot is an orphan | that record: the places | the copy frees nothing, because the flag of the places is not set; the sample in the slot frees all memory later | `orphan::RECORD`, `orphan::PLACES` |
//!
//! A last sample may miss the flag if the kernel refuses the heavy fence. The next connection or subscription that
//! takes or leaves a cell then frees the orphan (`orphan`). In a child of fork, nothing is freed.

mod free_search;
mod orphan;
pub(crate) mod places;

pub(crate) use self::{free_search::FreeSearch, orphan::OrphanCell};
use self::{orphan::Orphan, places::PlaceMemory};
use crate::{
    domain::{
        process_file::{EndpointBlock, OwnRecord},
        publisher_mapping::PublisherMapping,
    },
    protocol::{layout::ReaderRecord, shared::InRegion},
};
use std::sync::Arc;

/// An owned reader record, which is free again when this value is dropped. A pin whose value is 0 is free. This value
/// is used on the control path: takes and releases use the memory that it keeps, but do not read the value.
pub(crate) struct OwnedRecord {
    /// Keeps the pinned samples mapped.
    pub(crate) mapping: Arc<PublisherMapping>,
    /// The record in the process file; the domain keeps this file.
    own: OwnRecord,
    pub(crate) cell: &'static OrphanCell,
    /// The memory of the places of the samples; it also keeps the domain.
    pub(crate) memory: Arc<PlaceMemory>,
    /// The endpoint block with the subscription's counters; the block is valid for as long as the subscription keeps
    /// the connection.
    pub(crate) endpoint: EndpointBlock,
}

impl OwnedRecord {
    /// Makes an owned record of `own`, which was taken from this process's file in the domain.
    pub(crate) fn new(
        memory: Arc<PlaceMemory>,
        mapping: Arc<PublisherMapping>,
        own: OwnRecord,
        endpoint: EndpointBlock,
    ) -> Arc<OwnedRecord> {
        Arc::new(OwnedRecord { mapping, own, cell: OrphanCell::take(), memory, endpoint })
    }

    /// The reader record, which belongs to this connection for as long as `self` is kept.
    pub(crate) fn record(&self) -> &InRegion<ReaderRecord> {
        &self.own.record
    }

    /// Leaves the record to its samples, because the connection is about to drop the record. The drop of the last
    /// sample then frees the record; without samples, the drop of the connection frees it.
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
