//! A copy of the contents of a process's file. Only the parts of the file that changed are read again.

use super::{EndpointDescription, EndpointKey};
use crate::{
    error::{Error, Result},
    os::region::Region,
    protocol::{layout::*, shared::InRegion, sync::acquire},
};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{
        Arc,
        atomic::{Ordering::*, fence},
    },
};

/// A copy of the contents of a process's file, with the file's count of changes at the time of the copy. The file's
/// owner counts a change before it raises the generation of a topic, and a reader loads the count before the contents.
/// So a caller that has seen the raised generation gets contents that include the change.
///
/// Invariant C1: all calls of [`Self::refresh`] pass the region of the peer that owns these contents. The peer's
/// reader records leave it only in a [`PeerRecord`](super::PeerRecord), which keeps the peer and so the region.
#[derive(Default)]
pub(super) struct Contents {
    pub(super) changes: Option<u64>,
    /// The offset of the end of the blocks that have been found; blocks are only added (P2 of `process_file`).
    end: usize,
    /// The blocks of endpoints, by their offsets: the size of each block, and the keys under which `by_key` lists it.
    pub(super) endpoints: BTreeMap<usize, (usize, [Option<EndpointKey>; 2])>,
    /// The offsets of the endpoints' blocks, by the keys of the endpoints.
    pub(super) by_key: HashMap<EndpointKey, BTreeSet<usize>>,
    /// The descriptions of the endpoints that were read, by the offsets of their blocks, each with the version of its
    /// block. The descriptions are kept, because each endpoint of a topic needs all other endpoints of the topic again
    /// and again.
    pub(super) descriptions: HashMap<usize, (u64, Arc<EndpointDescription>)>,
    /// The definitions of the endpoints' types, by the types' hashes: many endpoints share a definition.
    pub(super) definitions: HashMap<[u8; 32], Arc<str>>,
    /// The blocks of reader records, by the blocks' offsets.
    record_blocks: BTreeMap<usize, RecordBlock>,
    /// The reader records that are in use, by the keys of their publishers.
    pub(super) records: HashMap<u64, RecordsOfKey>,
    /// The number of times that a reader record was found to be no longer in use.
    departures: u64,
    /// The number of blocks that were read because they had changed (for tests).
    #[cfg(test)]
    pub(super) looks: usize,
}

/// The reader records with one publisher key. The records lie in the peer's region.
pub(super) struct RecordsOfKey {
    /// The value of `departures` when a record last left this list, or when the list began. While the epoch is the
    /// same, records were only added at the end of the list.
    pub(super) epoch: u64,
    pub(super) list: Vec<InRegion<ReaderRecord>>,
}

/// A block of reader records, as of the last reading.
#[derive(Default)]
struct RecordBlock {
    version: Option<u64>,
    /// The publisher keys of the block's records; 0 marks a free record.
    keys: [u64; RECORDS_PER_BLOCK],
}

impl Contents {
    /// Reads the parts of the file that changed since the last call. `first_block` is the offset of the first block.
    pub(super) fn refresh(&mut self, region: &Region, first_block: usize) -> Result<()> {
        let header: &ProcessHeader = region.at(0)?;
        let changes = acquire(&header.changes); // loaded before the contents
        if self.changes == Some(changes) {
            return Ok(());
        }
        let changed = self.changes.take().and_then(|seen| changed_blocks(header, seen, changes));
        self.find_blocks(region, first_block)?;
        let all = || self.endpoints.keys().chain(self.record_blocks.keys()).copied().collect();
        for offset in changed.unwrap_or_else(all) {
            #[cfg(test)]
            {
                self.looks += 1;
            }
            self.read_keys(region, offset)?;
            self.read_records(region, offset)?;
        }
        self.changes = Some(changes); // after an error, `None` makes the next call read everything again
        Ok(())
    }

    /// Reads the keys under which the endpoint in a block is found.
    fn read_keys(&mut self, region: &Region, offset: usize) -> Result<()> {
        let Contents { endpoints, by_key, descriptions, .. } = self;
        let Some((_, keys)) = endpoints.get_mut(&offset) else { return Ok(()) };
        let header: &EndpointHeader = region.at(offset + size_of::<BlockHeader>())?;
        let now = if header.description_bytes.load(Relaxed) == 0 {
            descriptions.remove(&offset);
            [None; 2]
        } else {
            let node_hash = header.node_hash.load(Relaxed);
            [
                Some((header.topic_hash.load(Relaxed), header.role.load(Relaxed))),
                Some((node_hash, 0)).filter(|_| node_hash != 0),
            ]
        };
        if *keys == now {
            return Ok(());
        }
        for key in std::mem::replace(keys, now).into_iter().flatten() {
            if let Some(of_key) = by_key.get_mut(&key) {
                of_key.remove(&offset);
                if of_key.is_empty() {
                    by_key.remove(&key);
                }
            }
        }
        for key in now.into_iter().flatten() {
            by_key.entry(key).or_default().insert(offset);
        }
        Ok(())
    }

    /// Reads a block of reader records if the block has changed.
    fn read_records(&mut self, region: &Region, offset: usize) -> Result<()> {
        let Contents { record_blocks, records, departures, .. } = self;
        let Some(block) = record_blocks.get_mut(&offset) else { return Ok(()) };
        let version = acquire(&region.at::<BlockHeader>(offset)?.version); // loaded before the keys
        if block.version == Some(version) {
            return Ok(());
        }
        block.version = None; // stays `None` after an error
        let in_block = region.slice::<ReaderRecord>(offset + size_of::<BlockHeader>(), RECORDS_PER_BLOCK)?;
        for (record, known_key) in in_block.iter().zip(&mut block.keys) {
            let key = acquire(&record.key);
            let before = std::mem::replace(known_key, key);
            if before == key {
                continue;
            }
            if let Some(of_key) = records.get_mut(&before) {
                *departures += 1;
                of_key.epoch = *departures;
                of_key.list.retain(|known| !std::ptr::eq(&**known, record));
                if of_key.list.is_empty() {
                    records.remove(&before);
                }
            }
            if key != 0 {
                // SAFETY: C1.
                let record = unsafe { InRegion::new(record) };
                let none = || RecordsOfKey { epoch: *departures, list: Vec::new() };
                records.entry(key).or_insert_with(none).list.push(record);
            }
        }
        block.version = Some(version);
        Ok(())
    }

    /// Finds the blocks that were added since the last call.
    fn find_blocks(&mut self, region: &Region, first_block: usize) -> Result<()> {
        let header: &ProcessHeader = region.at(0)?;
        let used = acquire(&header.used_bytes) as usize;
        if used < first_block || used > region.length_bytes() && used > region.refresh_length()? {
            return Err(Error::corrupt(
                region.name(),
                "used_bytes",
                "the end of the last block, inside the file",
                used,
            ));
        }
        self.end = self.end.max(first_block);
        while self.end < used {
            let offset = self.end;
            let block: &BlockHeader = region.at(offset)?;
            let (size_bytes, kind) = (block.size_bytes as usize, block.kind);
            let least = match kind {
                BLOCK_RECORDS => size_of::<BlockHeader>() + RECORDS_PER_BLOCK * size_of::<ReaderRecord>(),
                BLOCK_ENDPOINT => size_of::<BlockHeader>() + size_of::<EndpointHeader>(),
                _ => usize::MAX,
            };
            if size_bytes < least || !size_bytes.is_multiple_of(LINE_BYTES) || size_bytes > used - offset {
                let (location, found) = (format!("offset {offset}"), format!("kind {kind}, {size_bytes} bytes"));
                return Err(Error::corrupt(region.name(), location, "a block", found));
            }
            match kind {
                BLOCK_RECORDS => {
                    self.record_blocks.insert(offset, RecordBlock::default());
                }
                _ => {
                    self.endpoints.insert(offset, (size_bytes, [None; 2]));
                }
            }
            self.end += size_bytes;
        }
        Ok(())
    }
}

/// The offsets of the blocks that changed after the change number `seen` and until `changes`. `None` if some of these
/// changes are no longer in the log.
fn changed_blocks(header: &ProcessHeader, seen: u64, changes: u64) -> Option<Vec<usize>> {
    let numbers = seen..changes;
    let entry = |change: u64| header.change_log[(change % LOGGED_CHANGES) as usize].load(Relaxed) as usize * LINE_BYTES;
    let offsets = (changes.checked_sub(seen)? < LOGGED_CHANGES).then(|| numbers.map(entry).collect());
    // The log's entries are loaded before the count is loaded again. If the count has risen too far, a later change may
    // have replaced one of these entries meanwhile.
    fence(Acquire);
    (header.changes.load(Relaxed).checked_sub(seen)? < LOGGED_CHANGES).then_some(offsets).flatten()
}
