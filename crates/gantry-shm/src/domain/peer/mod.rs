//! The file of another process, or this process's own file as other processes read it. The file shows whether its owner
//! lives, and contains the owner's endpoints and reader records.
//!
//! Publishers read the reader records for the pins that they must honour; subscriptions read the endpoints. This module
//! is on the control path. Only the file's lock decides that a process is dead. The lock is probed through a descriptor
//! that is kept from the first opening of the file on. The probe works even after the file was removed, and in another
//! pid namespace. A dead process stays dead.

mod contents;
pub(crate) mod holder;
pub(crate) mod known_records;
pub(crate) mod liveness;

use crate::{
    describe::description::{EndpointDescription, MAX_DESCRIPTION_BYTES},
    domain::process_file,
    error::{Error, Result},
    os::{directory::Directory, file::SharedFile, lock, region::Region},
    protocol::{layout::*, shared::InRegion, sync::acquire},
};
use contents::{Contents, RecordsOfKey};
use rustix::io::pread;
use std::{
    collections::BTreeSet,
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

    /// Returns the contents of the file, after reading the parts that changed since the last call.
    fn contents(&self) -> Result<MutexGuard<'_, Contents>> {
        let mut contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        contents.refresh(&self.region, self.first_block)?;
        Ok(contents)
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
