//! The files of publishers that inspections mapped, and the sizes of recent samples in them. This module is on the
//! control path.

use crate::{
    domain::publisher_mapping::PublisherMapping, error::Result, os::directory::Directory, protocol::ring::Ring,
};
use std::collections::{HashMap, hash_map::Entry};

/// The number of the newest samples whose lengths are read.
const RECENT_SAMPLES: u64 = 16;

/// The mapped files by the publishers' keys, each with the number of the last inspection that needed it.
#[derive(Default)]
pub(crate) struct MappedPublishers {
    inspections: u64,
    by_key: HashMap<u64, (PublisherMapping, u64)>,
}

impl MappedPublishers {
    /// Returns the mapped file of the publisher with this key.
    pub(crate) fn get(&mut self, directory: &Directory, file_name: &str, key: u64) -> Result<&PublisherMapping> {
        let now = self.inspections;
        let (mapping, used) = match self.by_key.entry(key) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert((PublisherMapping::open(directory, file_name, key)?, now)),
        };
        *used = now;
        Ok(mapping)
    }

    /// Ends an inspection: unmaps the publishers that the inspection did not need.
    pub(crate) fn end_inspection(&mut self) {
        let now = self.inspections;
        self.by_key.retain(|_, (_, used)| *used == now);
        self.inspections += 1;
    }
}

/// The mean length of the newest samples in a ring, in bytes.
pub(crate) fn recent_sample_bytes(ring: &Ring, newest_sequence: u64) -> u64 {
    let recent = (newest_sequence.saturating_sub(RECENT_SAMPLES) + 1)..=newest_sequence;
    let lengths: Vec<u64> =
        recent.filter_map(|sequence| ring.recent_length_bytes(sequence)).map(|length| length as u64).collect();
    let sum = lengths.iter().fold(0u64, |sum, length| sum.saturating_add(*length));
    sum.checked_div(lengths.len() as u64).unwrap_or(0)
}
