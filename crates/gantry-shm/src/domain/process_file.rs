//! This process's own file: the proof that the process lives, its endpoints, and the reader records in which it
//! pins samples.
//!
//! Other processes read the file as a `peer`. This module is on the control path; only the pins and cursors in the
//! reader records are stored by the data path. Invariants:
//! - P1: the file is created unnamed, locked, initialised and only then named: a process that finds the name finds a
//!   complete file, whether its owner lives or has died.
//! - P2: blocks are only added; `used_bytes` covers a block after its header is complete.
//! - P3: a reader record whose `key` is not 0 belongs to the subscription that took it, until
//!   [`ProcessFile::free_record`].

use crate::{
    crash::{self, Point},
    describe::description::{EndpointDescription, Role},
    error::{Error, Result},
    os::{
        directory::{Directory, PROCESS_SUFFIX},
        lock,
        region::Region,
    },
    protocol::{layout::*, shared::InRegion},
};
use rustix::rand::{GetRandomFlags, getrandom};
use std::{
    collections::BTreeMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::*, fence},
    },
};

/// The address space that is reserved for a process file: enough for about four million reader records.
const RESERVE_BYTES: usize = 256 << 20;

/// The file of this process in one domain.
pub(crate) struct ProcessFile {
    region: Region,
    id: [u8; 16],
    free: Mutex<FreeParts>,
    /// The blocks with reader records that were taken but are not yet counted as changes. The mutex is also held while
    /// changes are logged and counted. Many records of a block are counted as one change, because the log has room for
    /// few changes.
    taken: Mutex<Vec<usize>>,
}

/// The free blocks and reader records of the process file. They are listed in private memory, so that no other process
/// can damage the list.
struct FreeParts {
    records: Vec<OwnRecord>,
    /// The free endpoint blocks by capacity. Each description gets the smallest block that fits, so that descriptions
    /// that are added and removed in turn use the same blocks.
    endpoints: BTreeMap<usize, Vec<EndpointBlock>>,
    endpoints_made: u32,
    /// The end of the used bytes. Other processes read the same number in the file's header.
    used_bytes: usize,
}

/// A reader record of this process's file, with the header of its block. The holder of this value keeps the file.
#[derive(Clone, Copy)]
pub(crate) struct OwnRecord {
    pub(crate) record: InRegion<ReaderRecord>,
    block: InRegion<BlockHeader>,
    block_offset: usize,
}

/// The block of an endpoint's description. The block lies in the file that the holder of this value keeps mapped.
#[derive(Clone, Copy)]
pub(crate) struct EndpointBlock {
    offset: usize,
    capacity_bytes: usize,
    header: InRegion<EndpointHeader>,
}

impl EndpointBlock {
    /// Counts one more copied sample. Only the endpoint itself calls this method, so the plain store loses no count.
    #[inline]
    pub(crate) fn count_copy(&self) {
        let copied_samples = &self.header.copied_samples;
        copied_samples.store(copied_samples.load(Relaxed).wrapping_add(1), Relaxed);
    }

    /// Counts samples that the subscription lost. Its own thread and the control thread call this method.
    #[cold]
    pub(crate) fn count_lost(&self, samples: u64) {
        self.header.lost_samples.fetch_add(samples, Relaxed);
    }
}

impl ProcessFile {
    /// Makes the file, locked and initialised, then gives it its name (P1). The caller holds the registry lock.
    pub(crate) fn create(directory: &Directory, domain_id: u32, board_id: u64) -> Result<ProcessFile> {
        let mut random = [0u8; 24];
        getrandom(&mut random, GetRandomFlags::empty()).map_err(|e| Error::system("get random bytes", e))?;
        let mut id = [0u8; 16];
        id.copy_from_slice(&random[..16]);
        let header_lines = size_of::<ProcessHeader>() / LINE_BYTES;
        let first_line = header_lines + random[16] as usize % (PAGE_BYTES / LINE_BYTES - header_lines);
        let kind = (PROCESS_MAGIC, "a process's file");
        let file_name = file_name(&id);
        let region = Region::create(directory, &file_name, kind, PAGE_BYTES, RESERVE_BYTES)?;
        match lock::try_lock(region.file()?, 0) {
            Ok(true) => crash::point(Point::ProcessLocked),
            Ok(false) => {
                return Err(Error::corrupt(
                    region.name(),
                    "the lock",
                    "no holder, because the file is new",
                    "a holder",
                ));
            }
            Err(e) => return Err(Error::system(format!("lock {}", region.name()), e)),
        }
        let header = region.pointer(0, size_of::<ProcessHeader>(), LINE_BYTES)?.cast::<ProcessHeader>();
        // SAFETY: inside the mapping and aligned (`pointer`); the file has no name yet, so no other process sees it.
        let header = unsafe { &mut *header.as_ptr() };
        (header.pid, header.domain_id, header.id) = (std::process::id(), domain_id, id);
        (header.board_id, header.pid_namespace) = (board_id, pid_namespace());
        header.first_block = (first_line * LINE_BYTES) as u64;
        let name = program_name();
        header.name_bytes = name.len().min(header.name.len()) as u32;
        header.name[..header.name_bytes as usize].copy_from_slice(&name.as_bytes()[..header.name_bytes as usize]);
        header.used_bytes.store(header.first_block, Relaxed); // the link of the name publishes it
        crash::point(Point::ProcessWritten);
        let used_bytes = first_line * LINE_BYTES;
        let free = FreeParts { records: Vec::new(), endpoints: BTreeMap::new(), endpoints_made: 0, used_bytes };
        let named = region.publish_name(directory, &file_name);
        named.map_err(|e| Error::system(format!("name {directory}/{file_name}"), e))?;
        Ok(ProcessFile { region, id, free: Mutex::new(free), taken: Mutex::default() })
    }

    /// Whether processes that start now see this process: its file still has its name in `directory`.
    pub(crate) fn has_name(&self, directory: &Directory) -> bool {
        self.region.has_name_in(directory)
    }

    /// The id of this process: the 128 random bits in its file's name.
    pub(crate) fn id(&self) -> &[u8; 16] {
        &self.id
    }

    pub(crate) fn file_name(&self) -> String {
        file_name(&self.id)
    }

    /// The file name of the publisher with this number in this process.
    pub(crate) fn publisher_file_name(&self, number: u32) -> String {
        publisher_file_name(&self.id, number)
    }

    fn header(&self) -> Result<&ProcessHeader> {
        self.region.at(0)
    }

    /// Counts a change of an endpoint or of a reader record's key. The caller calls this method after each change and
    /// before it raises the generation of the topic. So a process that sees the generation also sees this count, and
    /// reads the contents again.
    fn count_change(&self, block_offset: usize) {
        self.log_change(&self.taken(), block_offset);
    }

    /// Counts the reader records that were taken, before the caller raises the generation of their topics (as for
    /// [`ProcessFile::count_change`]). The lock is held until all records are counted, because another thread that
    /// finds no uncounted record raises the generation of its topic at once.
    pub(crate) fn count_taken(&self) {
        let mut taken = self.taken();
        for block_offset in std::mem::take(&mut *taken) {
            self.log_change(&taken, block_offset);
        }
    }

    fn taken(&self) -> MutexGuard<'_, Vec<usize>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn log_change(&self, _lock: &MutexGuard<'_, Vec<usize>>, block_offset: usize) {
        if let Ok(header) = self.header() {
            let change = header.changes.load(Relaxed); // the lock orders the changes
            let entry = &header.change_log[(change % LOGGED_CHANGES) as usize];
            // Release: a process that reads this entry sees the counts before it. Partner: `changed_blocks` in
            // `peer/contents.rs`.
            entry.store((block_offset / LINE_BYTES) as u32, Release);
            header.changes.store(change.wrapping_add(1), Release); // partner: `Contents::refresh`
        }
    }

    /// Returns a number and an id for a new endpoint of this process.
    pub(crate) fn new_endpoint_id(&self) -> (u32, [u8; 16]) {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.endpoints_made += 1;
        let mut gid = self.id;
        gid[12..].copy_from_slice(&free.endpoints_made.to_be_bytes());
        (free.endpoints_made, gid)
    }

    /// Publishes an endpoint's description. The caller then raises the topic's generation.
    pub(crate) fn add_endpoint(
        &self,
        directory: &Directory,
        description: &EndpointDescription,
    ) -> Result<EndpointBlock> {
        let bytes = description.to_bytes();
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let fitting = free.endpoints.range_mut(bytes.len()..).find_map(|(_, blocks)| blocks.pop());
        let block = match fitting {
            Some(block) => block,
            None => {
                let contents_bytes = size_of::<EndpointHeader>() + bytes.len().next_multiple_of(LINE_BYTES);
                let offset = self.add_block(&mut free, directory, BLOCK_ENDPOINT, contents_bytes)?;
                // SAFETY: the holder of the block keeps this file.
                let header = unsafe { InRegion::new(self.region.at(offset + size_of::<BlockHeader>())?) };
                EndpointBlock { offset, capacity_bytes: contents_bytes - size_of::<EndpointHeader>(), header }
            }
        };
        self.write_endpoint(block, Some(description), &bytes)?;
        Ok(block)
    }

    /// Removes an endpoint's description. The caller then raises the topic's generation and frees the block. Until the
    /// block is freed, it contains the topic on which a reaper announces this process's death.
    pub(crate) fn remove_endpoint(&self, block: EndpointBlock) -> Result<()> {
        self.write_endpoint(block, None, &[])
    }

    /// Makes the block of a removed endpoint available to other endpoints.
    pub(crate) fn free_endpoint(&self, block: EndpointBlock) {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.endpoints.entry(block.capacity_bytes).or_default().push(block);
    }

    /// Writes an endpoint's words under a sequence lock: readers (`Peer::read_endpoint`) copy the words and use the
    /// copy if the version did not change meanwhile.
    fn write_endpoint(
        &self,
        block: EndpointBlock,
        description: Option<&EndpointDescription>,
        bytes: &[u8],
    ) -> Result<()> {
        let block_header: &BlockHeader = self.region.at(block.offset)?;
        let header = block.header;
        let text_offset = block.offset + size_of::<BlockHeader>() + size_of::<EndpointHeader>();
        let version = block_header.version.load(Relaxed); // this process is the only writer
        block_header.version.store(version.wrapping_add(1), Relaxed);
        fence(Release); // the odd version is stored before the words
        header.description_bytes.store(bytes.len() as u64, Relaxed);
        crash::point(Point::EndpointOpened);
        if let Some(EndpointDescription { role, topic, node, .. }) = description {
            header.topic_hash.store(name_hash(topic), Relaxed);
            // A hash of 0, because the graph's line is found without a hash.
            header.line_hash.store(if topic == GRAPH_TOPIC { 0 } else { line_hash(topic) }, Relaxed);
            header.role.store(*role as u64, Relaxed);
            header.node_hash.store(if *role == Role::Node { name_hash(node) } else { 0 }, Relaxed);
            header.copied_samples.store(0, Relaxed);
            header.lost_samples.store(0, Relaxed);
        }
        for (index, chunk) in bytes.chunks(8).enumerate() {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.region.at::<AtomicU64>(text_offset + index * 8)?.store(u64::from_le_bytes(word), Relaxed);
        }
        block_header.version.store(version.wrapping_add(2), Release); // the words are stored before the even version
        self.count_change(block.offset);
        crash::point(Point::EndpointClosed);
        Ok(())
    }

    /// Returns a reader record for the publisher with this key. The record's cursor is 0, so the publisher keeps all
    /// samples for the reader. The caller then counts the record ([`ProcessFile::count_taken`]), raises the generation,
    /// and keeps this file for as long as it uses the record.
    pub(crate) fn take_record(&self, directory: &Directory, key: u64, state: u32, depth: u32) -> Result<OwnRecord> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        if free.records.is_empty() {
            let offset =
                self.add_block(&mut free, directory, BLOCK_RECORDS, RECORDS_PER_BLOCK * size_of::<ReaderRecord>())?;
            // SAFETY: the holder of an `OwnRecord` keeps this file; the references in `FreeParts` are not used after
            // `self` drops the region.
            let block = unsafe { InRegion::new(self.region.at::<BlockHeader>(offset)?) };
            let records = self.region.slice::<ReaderRecord>(offset + size_of::<BlockHeader>(), RECORDS_PER_BLOCK)?;
            // SAFETY: as above.
            let records = records.iter().rev().map(|record| unsafe { InRegion::new(record) });
            free.records.extend(records.map(|record| OwnRecord { record, block, block_offset: offset }));
        }
        let Some(own) = free.records.pop() else {
            return Err(Error::corrupt(self.region.name(), "a new block of reader records", "records", "none"));
        };
        let record = own.record;
        record.cursor.store(0, Relaxed);
        record.depth.store(depth, Relaxed);
        record.state.store(state, Relaxed);
        crash::point(Point::RecordFilled);
        record.key.store(key, Release); // partner: `Contents::read_records`
        own.block.version.fetch_add(1, Release); // partner: `Contents::read_records`
        let mut taken = self.taken();
        if taken.last() != Some(&own.block_offset) {
            taken.push(own.block_offset);
        }
        crash::point(Point::RecordTaken);
        Ok(own)
    }

    /// Frees a reader record, whose pins must all be 0.
    pub(crate) fn free_record(&self, own: OwnRecord) {
        own.record.key.store(0, Release); // the last loads under the record's pins come before its reuse
        own.block.version.fetch_add(1, Release); // partner: `Contents::read_records`
        self.count_change(own.block_offset);
        crash::point(Point::RecordFreed);
        self.free.lock().unwrap_or_else(PoisonError::into_inner).records.push(own);
    }

    /// Adds a block and returns its offset (P2).
    fn add_block(
        &self,
        free: &mut FreeParts,
        directory: &Directory,
        kind: u32,
        contents_bytes: usize,
    ) -> Result<usize> {
        let offset = free.used_bytes;
        let size_bytes = size_of::<BlockHeader>() + contents_bytes.next_multiple_of(LINE_BYTES);
        let end = offset + size_bytes;
        if end > self.region.reserve_bytes() {
            let what = "the size of this process's records of endpoints and matches";
            let range = format!(
                "the records have room in {} bytes; distribute the endpoints over more processes",
                self.region.reserve_bytes()
            );
            return Err(Error::out_of_range(what, format!("{end} bytes"), range));
        }
        self.region.grow(directory, "a process's endpoints and pins", end.next_multiple_of(PAGE_BYTES))?;
        let header = self.region.pointer(offset, size_of::<BlockHeader>(), LINE_BYTES)?.cast::<BlockHeader>();
        // SAFETY: inside the mapping and aligned (`pointer`); readers do not read beyond `used_bytes` (P2).
        let header = unsafe { &mut *header.as_ptr() };
        (header.size_bytes, header.kind) = (size_bytes as u64, kind);
        crash::point(Point::BlockWritten);
        self.header()?.used_bytes.store(end as u64, Release); // partner: `Contents::find_blocks`
        crash::point(Point::BlockAdded);
        free.used_bytes = end;
        Ok(offset)
    }
}

/// The name of a process file.
pub(crate) fn file_name(id: &[u8; 16]) -> String {
    format!("{}{PROCESS_SUFFIX}", hex(id))
}

/// The name of a publisher's file.
pub(crate) fn publisher_file_name(id: &[u8; 16], number: u32) -> String {
    format!("{}.{number}{}", hex(id), crate::os::directory::PUBLISHER_SUFFIX)
}

fn hex(id: &[u8; 16]) -> String {
    format!("{:032x}", u128::from_be_bytes(*id))
}

/// The first 16 characters of the file names of the process that owns waiter lines as `waiter_owner`.
pub(crate) fn name_beginning(waiter_owner: u64) -> String {
    format!("{:016x}", waiter_owner.swap_bytes())
}

/// The owner word on the waiter lines of the process whose file has this name; 0 if the name is not a Gantry file's
/// name.
pub(crate) fn waiter_owner_of(name: &str) -> u64 {
    name.get(..16).and_then(|half| u64::from_str_radix(half, 16).ok()).map_or(0, u64::swap_bytes)
}

/// The half of a process's id that is stored as the owner of its waiter lines; never 0.
pub(crate) fn waiter_owner(id: &[u8; 16]) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|byte| id[byte])).max(1)
}

/// The inode number of this process's pid namespace, 0 if it cannot be read.
pub(crate) fn pid_namespace() -> u64 {
    rustix::fs::stat("/proc/self/ns/pid").map_or(0, |stat| stat.st_ino)
}

fn program_name() -> String {
    let path = std::env::args_os().next().unwrap_or_default();
    let name = std::path::Path::new(&path).file_name().unwrap_or_default().to_string_lossy();
    // A cut in the middle of a character would not be UTF-8.
    let end = (0..=name.len().min(64)).rev().find(|&end| name.is_char_boundary(end)).unwrap_or(0);
    name[..end].to_owned()
}

/// The id in the name of a process file. Any program of the user may put a file with such a name into the directory;
/// the id in that name belongs to no process.
pub(crate) fn process_id(name: &str) -> &str {
    name.strip_suffix(PROCESS_SUFFIX).unwrap_or(name)
}

/// The id of a process, from the name of the file of one of its publishers.
pub(crate) fn owner_id(name: &str) -> &str {
    name.split_once('.').map_or(name, |(id, _)| id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiter_lines_and_file_names_name_the_same_process() {
        for id in [[0xab; 16], std::array::from_fn(|byte| byte as u8 + 1)] {
            let owner = waiter_owner(&id);
            assert_eq!(waiter_owner_of(&file_name(&id)), owner);
            assert!(file_name(&id).starts_with(&name_beginning(owner)));
        }
        assert_eq!(waiter_owner_of("a stranger's.process"), 0);
    }

    /// A subscription that forgot the publishers would take their history from before its own creation, and some
    /// samples a second time.
    #[cfg(not(all(test, feature = "loom")))]
    #[test]
    fn a_subscription_keeps_the_publishers_of_a_process_that_cannot_be_read_for_a_moment() {
        use crate::{Participant, Publisher, PublisherOptions, Qos, SourceTime, Subscription, protocol::sleep::Side};
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let other_path = std::path::Path::new("/dev/shm/../shm").join(root.path().file_name().unwrap());
        let [own, other] = [root.path(), &other_path].map(|root| Participant::join_under(root, 0).unwrap());
        let (options, of_type) = (PublisherOptions::default(), crate::TypeDescription::default());
        let mut publisher =
            Publisher::new(other.clone(), "/other", "/topic", of_type.clone(), Qos::default(), options).unwrap();
        let mut publish = || {
            let loan = publisher.loan(0).unwrap();
            publisher.publish(loan, SourceTime::now()).unwrap()
        };
        publish();
        let mut subscription = Subscription::new(own.clone(), "/own", "/topic", of_type, Qos::default()).unwrap();
        assert_eq!(subscription.take().unwrap().map(|sample| sample.info().sequence), None);
        let header = other.domain.process.header().unwrap();
        let changed = |used_bytes| {
            let before = header.used_bytes.swap(used_bytes, SeqCst);
            other.domain.process.count_change(0);
            own.domain.board.topic_changed(own.domain.topic("/topic"), Side::Publishers);
            before
        };
        let used_bytes = changed(1);
        assert_eq!((subscription.publisher_count().unwrap(), subscription.mismatches().len()), (1, 1));
        changed(used_bytes);
        assert_eq!((subscription.publisher_count().unwrap(), subscription.mismatches().len()), (1, 0));
        let sequence = publish();
        assert_eq!(subscription.take().unwrap().map(|sample| sample.info().sequence), Some(sequence));
    }
}
