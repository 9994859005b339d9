//! The file of another process, or this process's own file as other processes read it. The file shows whether its owner
//! lives, and contains the owner's endpoints and reader records.
//!
//! Publishers read the reader records for the pins that they must honour; subscriptions read the endpoints. This module
//! is on the control path. Only the file's lock decides that a process is dead. The lock is probed through a descriptor
//! that is kept from the first opening of the file on. The probe works even after the file was removed, and in another
//! pid namespace. A dead process stays dead.

use crate::{
    describe::description::{EndpointDescription, MAX_DESCRIPTION_BYTES},
    domain::process_file,
    error::{Error, Result},
    os::{directory::Directory, file::SharedFile, lock, region::Region},
    protocol::{layout::*, shared::InRegion, sync::acquire},
};
use rustix::io::pread;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt,
    mem::offset_of,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::*, fence},
    },
};

/// The number of attempts to read an endpoint that is being rewritten. After the last attempt, the endpoint is skipped:
/// its owner raises the topic's generation after the change, so the endpoint is read again soon.
const READ_ATTEMPTS: usize = 100;

/// A reader record, and the process in whose file the record lies. The process keeps the record mapped.
pub(crate) type PeerRecord = (InRegion<ReaderRecord>, Arc<Peer>);

/// The number of a process's reader records for one publisher that a caller has seen, and the epoch of the list of
/// these records. While the epoch is the same, records were only added at the end of the list.
#[derive(Clone, Copy, Default)]
pub(crate) struct SeenRecords {
    pub(crate) epoch: u64,
    pub(crate) count: usize,
}

/// The counters of an endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EndpointCounts {
    /// The number of samples that the endpoint copied.
    pub(crate) copied_samples: u64,
    /// The number of samples that a subscription lost.
    pub(crate) lost_samples: u64,
}

impl EndpointCounts {
    fn read(header: &EndpointHeader) -> EndpointCounts {
        let (copied, lost) = (&header.copied_samples, &header.lost_samples);
        EndpointCounts { copied_samples: copied.load(Relaxed), lost_samples: lost.load(Relaxed) }
    }
}

/// The key by which endpoints are found: the hash of the topic's name and the role; for nodes also the hash of the
/// node's name and 0.
pub(crate) type EndpointKey = (u64, u64);

/// A process of the domain.
pub(crate) struct Peer {
    region: Region,
    /// The file's name in the directory.
    pub(crate) file_name: String,
    pub(crate) id: [u8; 16],
    pub(crate) pid: u32,
    /// Whether the process is in another pid namespace, so that its pid has no meaning here.
    is_elsewhere: bool,
    /// The board that the process uses. If it is not the board of this process, the announcements of the two processes
    /// do not reach each other.
    pub(crate) board_id: u64,
    /// The name of the process's program.
    pub(crate) name: String,
    first_block: usize,
    dead: AtomicBool,
    contents: Mutex<Contents>,
}

/// A copy of the contents of a process's file, with the file's count of changes at the time of the copy. The file's
/// owner counts a change before it raises the generation of a topic, and a reader loads the count before the contents.
/// So a caller that has seen the raised generation gets contents that include the change.
#[derive(Default)]
struct Contents {
    changes: Option<u64>,
    /// The offset of the end of the blocks that have been found; blocks are only added (P2).
    end: usize,
    /// The blocks of endpoints, by their offsets: the size of each block, and the keys under which `by_key` lists it.
    endpoints: BTreeMap<usize, (usize, [Option<EndpointKey>; 2])>,
    /// The offsets of the endpoints' blocks, by the keys of the endpoints.
    by_key: HashMap<EndpointKey, BTreeSet<usize>>,
    /// The descriptions of the endpoints that were read, by the offsets of their blocks, each with the version of its
    /// block. The descriptions are kept, because each endpoint of a topic needs all other endpoints of the topic again
    /// and again.
    descriptions: HashMap<usize, (u64, Arc<EndpointDescription>)>,
    /// The definitions of the endpoints' types, by the types' hashes: many endpoints share a definition.
    definitions: HashMap<[u8; 32], Arc<str>>,
    /// The blocks of reader records, by the blocks' offsets.
    record_blocks: BTreeMap<usize, RecordBlock>,
    /// The reader records that are in use, by the keys of their publishers.
    records: HashMap<u64, RecordsOfKey>,
    /// The number of times that a reader record was found to be no longer in use.
    departures: u64,
    /// The number of blocks that were read because they had changed (for tests).
    #[cfg(test)]
    looks: usize,
}

/// The reader records with one publisher key. The records lie in the peer's region.
struct RecordsOfKey {
    /// The value of `departures` when a record last left this list, or when the list began. While the epoch is the
    /// same, records were only added at the end of the list.
    epoch: u64,
    list: Vec<InRegion<ReaderRecord>>,
}

/// A block of reader records, as of the last reading.
#[derive(Default)]
struct RecordBlock {
    version: Option<u64>,
    /// The publisher keys of the block's records; 0 marks a free record.
    keys: [u64; RECORDS_PER_BLOCK],
}

impl Peer {
    /// Maps a process file. The error has the kind `NotFound` if the file was removed meanwhile.
    pub(crate) fn open(directory: &Directory, file_name: &str) -> Result<Peer> {
        let region = Region::open(directory, file_name, PROCESS_MAGIC, false)?;
        let header: &ProcessHeader = region.at(0)?;
        // The name is copied before use, because the other process could change the name meanwhile.
        let (name, name_bytes) = (std::hint::black_box(header.name), header.name_bytes as usize);
        // Control characters are replaced, because the name is printed on terminals.
        let name = String::from_utf8_lossy(&name[..name_bytes.min(name.len())]).replace(char::is_control, "?");
        let (id, board_id, first_block) = (header.id, header.board_id, header.first_block as usize);
        let (pid, is_elsewhere) = (header.pid, header.pid_namespace != process_file::pid_namespace());
        if process_file::file_name(&id) != file_name {
            return Err(Error::corrupt(file_name, "the header", "the id in the file's name", format!("{id:02x?}")));
        }
        // An impossible offset of the first block is refused, because it would hide all reader records with their pins.
        if !(size_of::<ProcessHeader>()..PAGE_BYTES).contains(&first_block) || !first_block.is_multiple_of(LINE_BYTES) {
            return Err(Error::corrupt(file_name, "the header", "a first block in the first page", first_block));
        }
        let file_name = file_name.to_owned();
        let (dead, contents) = (AtomicBool::new(false), Mutex::default());
        Ok(Peer { region, file_name, id, pid, is_elsewhere, board_id, name, first_block, dead, contents })
    }

    /// Reads the id of the board that the owner of a process file uses, without mapping the file.
    pub(crate) fn board_id_of(directory: &Directory, file_name: &str) -> Result<u64> {
        let file = SharedFile::open(directory, file_name, false)?;
        file.check_header(file_name, PROCESS_MAGIC)?;
        let mut id = [0; 8];
        match pread(&file, &mut id[..], offset_of!(ProcessHeader, board_id) as u64) {
            Ok(8) => Ok(u64::from_le_bytes(id)),
            Ok(_) => Err(Error::corrupt(file_name, "the header", "a board's id", "the end of the file")),
            Err(e) => Err(Error::system(format!("read {directory}/{file_name}"), e)),
        }
    }

    /// Probes the lock (half a microsecond), unless the process was found dead before. If the kernel gives no answer,
    /// the process counts as alive.
    pub(crate) fn is_alive(&self) -> bool {
        // Relaxed: the flag only saves probes.
        if self.dead.load(Relaxed) {
            return false;
        }
        let alive = self.region.file().map_or(true, |file| lock::is_locked(file, 0).unwrap_or(true));
        if !alive {
            self.dead.store(true, Relaxed);
        }
        alive
    }

    /// Whether the process's file still has its name; `true` if the kernel gives no answer.
    pub(crate) fn has_name(&self) -> bool {
        self.region.file().map_or(true, SharedFile::has_name)
    }

    /// Whether an earlier call found the process dead; this call probes nothing.
    pub(crate) fn is_known_dead(&self) -> bool {
        self.dead.load(Relaxed)
    }

    /// The process's endpoints with any of these keys (all endpoints for `None`), each with its counters. The result
    /// may contain endpoints with other names: two names may have the same hash, or a block may belong to another
    /// endpoint by now.
    pub(crate) fn endpoints(
        &self,
        keys: Option<&[EndpointKey]>,
    ) -> Result<Vec<(Arc<EndpointDescription>, EndpointCounts)>> {
        let mut found = Vec::new();
        let mut contents = self.contents()?;
        let Contents { endpoints, by_key, descriptions, definitions, .. } = &mut *contents;
        let offsets: Vec<usize> = match keys {
            None => endpoints.keys().copied().collect(),
            Some(keys) => keys.iter().filter_map(|key| by_key.get(key)).flatten().copied().collect(),
        };
        for offset in offsets {
            let size_bytes = endpoints.get(&offset).map_or(0, |(size_bytes, _)| *size_bytes);
            let block: &BlockHeader = self.region.at(offset)?;
            let header: &EndpointHeader = self.region.at(offset + size_of::<BlockHeader>())?;
            let version = acquire(&block.version);
            if let Some((_, known)) = descriptions.get(&offset).filter(|(of_known, _)| *of_known == version) {
                found.push((known.clone(), EndpointCounts::read(header)));
            } else if let Some((bytes, counts)) = self.read_endpoint(offset, size_bytes)? {
                let mut description = EndpointDescription::from_bytes(&bytes, self.region.name())?;
                let definition = &mut description.message_type.definition;
                match definitions.get(&description.message_type.hash) {
                    Some(known) if known == definition => definition.clone_from(known),
                    _ => {
                        definitions.retain(|_, known| Arc::strong_count(known) > 1);
                        definitions.insert(description.message_type.hash, definition.clone());
                    }
                }
                let description = Arc::new(description);
                // A block that the owner rewrote after `version` was loaded has a newer version, so the next call finds
                // another version in the block and reads the block again.
                descriptions.insert(offset, (version, description.clone()));
                found.push((description, counts));
            } else {
                descriptions.remove(&offset);
            }
        }
        Ok(found)
    }

    /// The hashes of the topics on which the reaper announces the death of this process. These are topics with
    /// endpoints of the process, and topics from which the process removed an endpoint, perhaps without raising the
    /// topic's generation. The hashes are the ones by which topics find their lines on the board.
    pub(crate) fn topics(&self) -> Result<BTreeSet<u64>> {
        let mut topics = BTreeSet::new();
        // All blocks are read again, because the process may have died between the change of an endpoint and the count
        // of this change.
        self.contents.lock().unwrap_or_else(PoisonError::into_inner).changes = None;
        for offset in self.contents()?.endpoints.keys() {
            let header: &EndpointHeader = self.region.at(offset + size_of::<BlockHeader>())?;
            topics.insert(header.line_hash.load(Relaxed));
        }
        topics.remove(&0); // the block of a node, or a block that was never written
        Ok(topics)
    }

    /// Reads the description and the counters of an endpoint, as the reader of the sequence lock of
    /// `ProcessFile::write_endpoint`.
    fn read_endpoint(&self, offset: usize, size_bytes: usize) -> Result<Option<(Vec<u8>, EndpointCounts)>> {
        let block: &BlockHeader = self.region.at(offset)?;
        let contents = offset + size_of::<BlockHeader>();
        let header: &EndpointHeader = self.region.at(contents)?;
        let description = contents + size_of::<EndpointHeader>();
        let capacity_bytes = (offset + size_bytes - description).min(MAX_DESCRIPTION_BYTES);
        for _ in 0..READ_ATTEMPTS {
            let version = acquire(&block.version);
            let length_bytes = header.description_bytes.load(Relaxed) as usize;
            if version % 2 == 1 {
                std::hint::spin_loop();
                continue;
            }
            if length_bytes == 0 {
                return Ok(None);
            }
            if length_bytes > capacity_bytes {
                let expected = format!("at most {capacity_bytes} bytes of description");
                return Err(Error::corrupt(self.region.name(), format!("offset {offset}"), expected, length_bytes));
            }
            let mut bytes = Vec::with_capacity(length_bytes.next_multiple_of(8));
            for word in 0..length_bytes.div_ceil(8) {
                let word = self.region.at::<AtomicU64>(description + word * 8)?.load(Relaxed);
                bytes.extend_from_slice(&word.to_le_bytes());
            }
            bytes.truncate(length_bytes);
            let counts = EndpointCounts::read(header);
            fence(Acquire); // the words are loaded before the second load of the version
            if block.version.load(Relaxed) == version {
                return Ok(Some((bytes, counts)));
            }
        }
        Ok(None)
    }

    /// The process's reader records for the publisher with this key.
    pub(crate) fn records_of(self: &Arc<Self>, key: u64) -> Result<Vec<PeerRecord>> {
        let mut records = Vec::new();
        self.records_after(key, SeenRecords::default(), &mut records)?;
        Ok(records)
    }

    /// Adds the process's reader records for the publisher with this key to `found`, except the records in `seen`.
    /// Returns the new state of `seen`; `None` if some of the seen records are gone.
    pub(crate) fn records_after(
        self: &Arc<Self>,
        key: u64,
        seen: SeenRecords,
        found: &mut Vec<PeerRecord>,
    ) -> Result<Option<SeenRecords>> {
        let contents = self.contents()?;
        let Some(RecordsOfKey { epoch, list }) = contents.records.get(&key) else {
            return Ok((seen.count == 0).then(SeenRecords::default));
        };
        if seen.count > 0 && seen.epoch != *epoch {
            return Ok(None);
        }
        found.extend(list.iter().skip(seen.count).map(|&record| (record, self.clone())));
        Ok(Some(SeenRecords { epoch: *epoch, count: list.len() }))
    }

    /// Returns the contents of the file, after reading the parts that changed since the last call.
    fn contents(&self) -> Result<MutexGuard<'_, Contents>> {
        let mut contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        let header: &ProcessHeader = self.region.at(0)?;
        let changes = acquire(&header.changes); // loaded before the contents
        if contents.changes != Some(changes) {
            let changed = contents.changes.take().and_then(|seen| changed_blocks(header, seen, changes));
            self.find_blocks(&mut contents)?;
            let all = || contents.endpoints.keys().chain(contents.record_blocks.keys()).copied().collect();
            for offset in changed.unwrap_or_else(all) {
                #[cfg(test)]
                {
                    contents.looks += 1;
                }
                self.read_keys(&mut contents, offset)?;
                self.read_records(&mut contents, offset)?;
            }
            contents.changes = Some(changes); // after an error, `None` makes the next call read everything again
        }
        Ok(contents)
    }

    /// Reads the keys under which the endpoint in a block is found.
    fn read_keys(&self, contents: &mut Contents, offset: usize) -> Result<()> {
        let Contents { endpoints, by_key, descriptions, .. } = contents;
        let Some((_, keys)) = endpoints.get_mut(&offset) else { return Ok(()) };
        let header: &EndpointHeader = self.region.at(offset + size_of::<BlockHeader>())?;
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
    fn read_records(&self, contents: &mut Contents, offset: usize) -> Result<()> {
        let Contents { record_blocks, records, departures, .. } = contents;
        let Some(block) = record_blocks.get_mut(&offset) else { return Ok(()) };
        let version = acquire(&self.region.at::<BlockHeader>(offset)?.version); // loaded before the keys
        if block.version == Some(version) {
            return Ok(());
        }
        block.version = None; // stays `None` after an error
        let in_block = self.region.slice::<ReaderRecord>(offset + size_of::<BlockHeader>(), RECORDS_PER_BLOCK)?;
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
                // SAFETY: the reference is returned together with the peer, which keeps the region.
                let record = unsafe { InRegion::new(record) };
                let none = || RecordsOfKey { epoch: *departures, list: Vec::new() };
                records.entry(key).or_insert_with(none).list.push(record);
            }
        }
        block.version = Some(version);
        Ok(())
    }

    /// Finds the blocks that were added since the last call.
    fn find_blocks(&self, contents: &mut Contents) -> Result<()> {
        let header: &ProcessHeader = self.region.at(0)?;
        let used = acquire(&header.used_bytes) as usize;
        if used < self.first_block || used > self.region.length_bytes() && used > self.region.refresh_length()? {
            return Err(Error::corrupt(
                self.region.name(),
                "used_bytes",
                "the end of the last block, inside the file",
                used,
            ));
        }
        contents.end = contents.end.max(self.first_block);
        while contents.end < used {
            let offset = contents.end;
            let block: &BlockHeader = self.region.at(offset)?;
            let (size_bytes, kind) = (block.size_bytes as usize, block.kind);
            let least = match kind {
                BLOCK_RECORDS => size_of::<BlockHeader>() + RECORDS_PER_BLOCK * size_of::<ReaderRecord>(),
                BLOCK_ENDPOINT => size_of::<BlockHeader>() + size_of::<EndpointHeader>(),
                _ => usize::MAX,
            };
            if size_bytes < least || !size_bytes.is_multiple_of(LINE_BYTES) || size_bytes > used - offset {
                let (location, found) = (format!("offset {offset}"), format!("kind {kind}, {size_bytes} bytes"));
                return Err(Error::corrupt(self.region.name(), location, "a block", found));
            }
            match kind {
                BLOCK_RECORDS => {
                    contents.record_blocks.insert(offset, RecordBlock::default());
                }
                _ => {
                    contents.endpoints.insert(offset, (size_bytes, [None; 2]));
                }
            }
            contents.end += size_bytes;
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

/// The reader records of the living processes for the publisher with this key. Processes that cannot be read are left
/// out.
pub(crate) fn readable_records(peers: &[Arc<Peer>], key: u64) -> Vec<PeerRecord> {
    records_of(peers.iter().filter(|peer| peer.is_alive()), key)
}

/// The reader records of these processes for the publisher with this key. Processes that cannot be read are left out.
pub(crate) fn records_of<'a>(peers: impl IntoIterator<Item = &'a Arc<Peer>>, key: u64) -> Vec<PeerRecord> {
    peers.into_iter().filter_map(|peer| peer.records_of(key).ok()).flatten().collect()
}

impl Peer {
    /// The peer's name in a message that this process prints.
    pub(crate) fn as_seen_here(&self) -> String {
        let is_own = self.pid == std::process::id() && !self.is_elsewhere;
        if is_own { format!("this process (pid {})", self.pid) } else { self.to_string() }
    }
}

/// The program's name and the pid, for use in a sentence.
impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let namespace = if self.is_elsewhere { " in another pid namespace" } else { "" };
        write!(f, "{} (pid {}{namespace})", self.name, self.pid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Participant, Qos, TypeDescription,
        describe::description::Role,
        domain::{endpoints::Selection, process_file::EndpointBlock},
    };

    fn add(participant: &Participant, role: Role, node: &str, topic: &str) -> EndpointBlock {
        let domain = &participant.domain;
        let endpoint = domain.describe(role, node, topic, TypeDescription::default(), Qos::default()).unwrap();
        domain.process.add_endpoint(&domain.directory, &endpoint).unwrap()
    }

    fn count(peer: &Peer, selection: Selection<'_>) -> usize {
        let found = peer.endpoints(selection.keys().as_deref()).unwrap();
        found.iter().filter(|(endpoint, _)| selection.has(endpoint)).count()
    }

    /// Starting nodes would read n² descriptions and n² blocks if each of n searches read all endpoints.
    #[test]
    fn a_look_reads_only_the_endpoints_that_it_looks_for() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let participant = Participant::join_under(root.path(), 0).unwrap();
        let domain = &participant.domain;
        let peer = Peer::open(&domain.directory, &domain.process.file_name()).unwrap();
        let looks = |look: &mut dyn FnMut()| {
            let before = peer.contents.lock().unwrap().looks;
            look();
            peer.contents.lock().unwrap().looks - before
        };
        for node in 0..200 {
            let name = format!("/node_{node}");
            add(&participant, Role::Node, &name, "");
            add(&participant, Role::Publisher, &name, "/events");
            let looks = looks(&mut || {
                assert_eq!(count(&peer, Selection::Node(&name)), 1);
                assert_eq!(count(&peer, Selection::Role("/events", Role::Subscription)), 0);
            });
            assert!(looks <= 2, "{looks} blocks were looked at for two that changed");
        }
        assert_eq!(peer.contents.lock().unwrap().descriptions.len(), 200, "of each node its own");
        assert_eq!(count(&peer, Selection::Topic("/events")), 200);
    }

    /// A subscription joins 300 publishers, but the log has room for only 128 changes.
    #[cfg(not(feature = "loom"))]
    #[test]
    fn a_join_of_many_publishers_changes_few_blocks() {
        use crate::{Publisher, PublisherOptions, Subscription};
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let participant = Participant::join_under(root.path(), 0).unwrap();
        let (domain, of_type) = (&participant.domain, TypeDescription::default);
        let publish = |_| {
            let (qos, options) = (Qos::default(), PublisherOptions::default());
            Publisher::new(participant.clone(), "/node", "/topic", of_type(), qos, options).unwrap()
        };
        let publishers: Vec<Publisher> = (0..300).map(publish).collect();
        let peer = Arc::new(Peer::open(&domain.directory, &domain.process.file_name()).unwrap());
        let records = || peer.records_of(publishers[299].description().key).unwrap().len();
        let looks = || peer.contents.lock().unwrap().looks;
        assert_eq!(records(), 0);
        let before = looks();
        let _subscription =
            Subscription::new(participant.clone(), "/node", "/topic", of_type(), Qos::default()).unwrap();
        assert_eq!(records(), 1);
        assert!(looks() - before <= 300 / RECORDS_PER_BLOCK + 2, "{} blocks were read", looks() - before);
    }

    /// The log of changes has room for the last 128 changes.
    #[test]
    fn endpoints_are_found_whatever_changed_since_the_last_look() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let participant = Participant::join_under(root.path(), 0).unwrap();
        let domain = &participant.domain;
        let peer = Peer::open(&domain.directory, &domain.process.file_name()).unwrap();
        for changes in [1, LOGGED_CHANGES - 1, LOGGED_CHANGES, 1000] {
            let blocks: Vec<_> =
                (0..changes).map(|_| add(&participant, Role::Subscription, "/node", "/topic")).collect();
            assert_eq!(count(&peer, Selection::Topic("/topic")) as u64, changes);
            for block in blocks {
                domain.process.remove_endpoint(block).unwrap();
                domain.process.free_endpoint(block);
            }
            assert_eq!(count(&peer, Selection::All), 0);
        }
    }
}
