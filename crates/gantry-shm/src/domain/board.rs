//! The board of a domain, a file with one line for each topic (the waiters that sleep on the topic) and one line for
//! each waiter (its bell).
//!
//! The first process of a domain makes the board and the last process removes it, both under the registry lock
//! (`registry`). Invariants:
//! - B1: the board is the only memory with many writers, and it contains no addresses or offsets. Damage to a board can
//!   only cost a wake-up, delay the discovery of an endpoint or keep publishers from reclaiming slots.
//! - B2: the registry lock of a domain is the lock of the board that has the board's file name. The lock of a board
//!   whose file was unlinked protects nothing.
//! - B3: all processes that hold a topic hold the same line for it (`protocol::names`, N2), and the generations of a
//!   line never decrease, not even when the line is assigned to another topic. A reader joins no publisher that holds
//!   another line, so damaged names can only keep endpoints from finding each other. If a process rings, raises a
//!   generation or sets a bit on a line that was assigned to another topic, the only effect is that a thread wakes
//!   without need.

use crate::{
    crash::{self, Point},
    domain::peer::liveness::{check_one_board, may_live},
    error::{Error, Result},
    os::{
        directory::{BOARD_NAME, Directory, PROCESS_SUFFIX},
        file::SharedFile,
        lock,
        region::Region,
    },
    protocol::{
        collect::{READY_BITS, ReadyBit},
        layout::*,
        names::{Bucket, Name},
        shared::InRegion,
        sleep::{self, Side, TopicLines, WaiterIndex},
        sync::{AtomicU64, Fenced, Futex, Ordering::*, Site, acquire, full_fence},
    },
};
use rustix::{
    io::Errno,
    rand::{GetRandomFlags, getrandom},
};
use std::{
    sync::Mutex,
    time::{Duration, Instant},
};

/// The number of checks in a row that find living processes but no board, after which the board counts as removed.
const BOARD_RETRIES: usize = 10;

/// A mapped board file.
pub(crate) struct Board {
    pub(crate) region: Region,
    /// The four parts of `region`.
    pub(crate) header: InRegion<BoardHeader>,
    pub(crate) names: InRegion<[AtomicU64; NAMED_LINES]>,
    pub(crate) topics: InRegion<[TopicLine; TOPIC_LINES]>,
    pub(crate) waiters: InRegion<[WaiterLine; WAITER_LINES]>,
    /// The mutex by which threads of this process exclude each other: the OFD lock belongs to the process's only
    /// file description of the board.
    pub(crate) registry: Mutex<()>,
    /// The number of searches for the names of topic lines.
    #[cfg(test)]
    pub(crate) searches: std::sync::atomic::AtomicUsize,
    /// The number of times that all topic lines were searched to withdraw waiters from their sets.
    #[cfg(test)]
    pub(crate) withdrawals: std::sync::atomic::AtomicUsize,
}

/// The index of a topic's line on the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TopicIndex(usize);

/// The line whose readers' side counts the changes of the graph.
pub(crate) const GRAPH: TopicIndex = TopicIndex(NAMED_LINES);

impl TopicIndex {
    /// The last line of the bucket for this hash: topics share that line when their bucket is full.
    pub(crate) fn shared(hash: u64) -> TopicIndex {
        TopicIndex(bucket_of(hash) * BUCKET_LINES + BUCKET_LINES - 1)
    }

    /// The number of this topic's line on the board.
    pub(crate) fn number(self) -> u64 {
        self.0 as u64
    }

    /// The bit in a waiter's line that is set when this topic has news.
    #[inline]
    pub(crate) fn ready_bit(self) -> ReadyBit {
        ReadyBit(self.0 % READY_BITS)
    }
}

impl Board {
    /// Opens or makes the domain's board. `Ok(None)` means that another process made or removed a board meanwhile, so
    /// the caller must begin again. `patience` limits the wait for the lock of an unusable board.
    pub(crate) fn open_or_create(directory: &Directory, patience: Duration) -> Result<Option<Board>> {
        match Board::open(directory, true) {
            Ok(board) => Ok(Some(board)),
            Err(e) if e.is_not_found() => Board::create_if_unused(directory),
            Err(e @ (Error::Incompatible { .. } | Error::Corrupt { .. })) => {
                Board::remove_unused(directory, patience, e)
            }
            Err(e) => Err(e),
        }
    }

    /// Makes a board. Fails if there are living processes whose board was removed, because they would not notice the
    /// processes that use the new board.
    fn create_if_unused(directory: &Directory) -> Result<Option<Board>> {
        let mut refusal = check_one_board(directory, None);
        // The check is repeated, because between two checks other processes may make a board and join, or leave and
        // remove a board. A board that was removed while processes live does not come back.
        for _ in 0..BOARD_RETRIES {
            if refusal.is_ok() {
                return Board::create(directory);
            }
            if directory.used_bytes(BOARD_NAME) > 0 {
                return Ok(None);
            }
            refusal = check_one_board(directory, None);
        }
        refusal.map(|()| None)
    }

    /// Removes a damaged board or a board of another version if no living process may use it. `unusable` is the error
    /// of opening the board. The function takes the board's lock, which gives the right to remove the board; all
    /// versions have this lock at the same offset.
    fn remove_unused(directory: &Directory, patience: Duration, unusable: Error) -> Result<Option<Board>> {
        let file = SharedFile::open(directory, BOARD_NAME, true)?;
        if !wait_for_lock(&file, directory, patience)? {
            return Err(unusable);
        }
        // Nothing is removed if another process has removed this board meanwhile, or has made a usable board.
        if file.stat(BOARD_NAME)?.st_nlink > 0 && Board::open(directory, true).is_err() {
            if directory.files()?.iter().any(|name| name.ends_with(PROCESS_SUFFIX) && may_live(directory, name)) {
                return Err(unusable);
            }
            directory.unlink(BOARD_NAME)?;
        }
        Ok(None)
    }

    /// Opens the domain's board if there is one.
    pub(crate) fn open(directory: &Directory, writable: bool) -> Result<Board> {
        Board::attach(Region::open(directory, BOARD_NAME, BOARD_MAGIC, writable)?)
    }

    fn create(directory: &Directory) -> Result<Option<Board>> {
        let kind = (BOARD_MAGIC, "the board of a domain");
        let region = Region::create(directory, BOARD_NAME, kind, BOARD_BYTES, BOARD_BYTES)?;
        let id = random_word()?;
        let header = region.pointer(0, size_of::<BoardHeader>(), LINE_BYTES)?.cast::<BoardHeader>();
        // SAFETY: inside the mapping and aligned (`pointer`); the file has no name yet, so no other process sees it.
        let header = unsafe { &mut *header.as_ptr() };
        header.id = id;
        crash::point(Point::BoardWritten);
        match region.publish_name(directory, BOARD_NAME) {
            Ok(()) => Board::attach(region).map(Some),
            // Another process has made a board or removed the directory meanwhile: the caller begins again.
            Err(Errno::EXIST | Errno::NOENT) => Ok(None),
            Err(e) => Err(Error::system(format!("name the board of {directory}"), e)),
        }
    }

    fn attach(region: Region) -> Result<Board> {
        let found = region.length_bytes();
        if found < BOARD_BYTES {
            return Err(Error::Incompatible {
                file: region.name().to_owned(),
                why: format!("it has {found} bytes and should have {BOARD_BYTES}"),
            });
        }
        // SAFETY: the board keeps the region for as long as it keeps these four references.
        let header = unsafe { InRegion::new(region.at::<BoardHeader>(0)?) };
        // SAFETY: as above.
        let names = unsafe { InRegion::new(region.at(BOARD_NAMES_OFFSET)?) };
        // SAFETY: as above.
        let topics = unsafe { InRegion::new(region.at(BOARD_TOPICS_OFFSET)?) };
        // SAFETY: as above.
        let waiters = unsafe { InRegion::new(region.at(BOARD_WAITERS_OFFSET)?) };
        Ok(Board {
            region,
            header,
            names,
            topics,
            waiters,
            registry: Mutex::new(()),
            #[cfg(test)]
            searches: Default::default(),
            #[cfg(test)]
            withdrawals: Default::default(),
        })
    }

    /// The random number of this board, which the files of its processes contain.
    pub(crate) fn id(&self) -> u64 {
        self.header.id
    }

    /// The number of changes of the set of processes. A caller that remembers the number of its last listing of the
    /// directory finds out whether the listing is out of date.
    pub(crate) fn processes_generation(&self) -> u64 {
        acquire(&self.header.processes_generation)
    }

    /// Counts a change of the set of processes. Release: a process that loads the new count finds the
    /// changed directory.
    pub(crate) fn processes_changed(&self) {
        self.header.processes_generation.fetch_add(1, Release);
        crash::point(Point::ProcessesChanged);
    }

    /// Holds the line of the topic with this hash for a waiter that watches one side of the topic (`protocol::names`,
    /// N1). `is_held` returns whether the waiter's process already holds a given line.
    pub(crate) fn hold(
        &self,
        line_hash: u64,
        side: Side,
        waiter: WaiterIndex,
        is_held: impl Fn(TopicIndex) -> bool,
    ) -> TopicIndex {
        let (bucket, first) = self.bucket(bucket_of(line_hash));
        let start = line_hash as usize / (NAMED_LINES / BUCKET_LINES) % BUCKET_LINES;
        let in_bucket =
            bucket.hold(Name::from_hash(line_hash), start, (side, waiter), |index| is_held(TopicIndex(first + index)));
        TopicIndex(first + in_bucket)
    }

    /// Ends the waiter's hold of a topic line.
    pub(crate) fn release(&self, topic: TopicIndex, waiter: WaiterIndex) {
        self.bucket(topic.0 / BUCKET_LINES).0.release(topic.0 % BUCKET_LINES, waiter);
    }

    /// The line of the topic with this hash, if a process holds one.
    pub(crate) fn find(&self, line_hash: u64) -> Option<TopicIndex> {
        let (bucket, first) = self.bucket(bucket_of(line_hash));
        bucket.find(Name::from_hash(line_hash)).map(|index| TopicIndex(first + index))
    }

    /// Frees the lines that no process holds.
    pub(crate) fn sweep_topics(&self) {
        self.buckets().for_each(|bucket| bucket.sweep());
    }

    /// The number of topic lines that are in use.
    pub(crate) fn topic_lines(&self) -> usize {
        self.buckets().map(|bucket| bucket.count()).sum()
    }

    /// The topic lines that were used since the board was made; the pages of all other lines stay untouched.
    pub(crate) fn used_lines(&self) -> impl Iterator<Item = &TopicLine> {
        let is_used = |index: usize| self.names.get(index).is_none_or(|word| word.load(Relaxed) != 0);
        self.topics.iter().enumerate().filter(move |(index, _)| is_used(*index)).map(|(_, line)| line)
    }

    fn buckets(&self) -> impl Iterator<Item = Bucket<'_>> {
        (0..NAMED_LINES / BUCKET_LINES).map(|number| self.bucket(number).0)
    }

    /// A bucket of topic lines, and the number of its first line.
    fn bucket(&self, number: usize) -> (Bucket<'_>, usize) {
        #[cfg(test)]
        self.searches.fetch_add(1, Relaxed);
        let first = number * BUCKET_LINES;
        let lines = first..first + BUCKET_LINES;
        (Bucket { names: &self.names[lines.clone()], lines: &self.topics[lines] }, first)
    }

    /// The line of a topic.
    #[inline]
    pub(crate) fn line(&self, topic: TopicIndex) -> &TopicLine {
        &self.topics[topic.0 % TOPIC_LINES]
    }

    /// Raises the generation of one side of a topic, wakes the watchers of this side, and returns the new generation.
    pub(crate) fn topic_changed(&self, topic: TopicIndex, side: Side) -> u64 {
        self.own_lines(topic).changed(side)
    }

    /// Rings all waiters that sleep until there is a sample of the topic.
    pub(crate) fn ring_sleepers(&self, topic: TopicIndex) {
        self.own_lines(topic).ring_sleepers();
    }

    /// Raises the generation of the graph, because an endpoint or a node was added to its process's file or removed
    /// from it.
    pub(crate) fn graph_changed(&self) {
        self.topic_changed(GRAPH, Side::Readers);
    }

    /// Counts the growth of a publisher's file, and wakes the control threads of the topic's readers, so that they map
    /// the new pages.
    pub(crate) fn file_has_grown(&self, topic: TopicIndex) {
        self.line(topic).growths.fetch_add(1, Release); // partners: `Tasks::grown`, `Domain::prefault_grown`
        self.own_lines(topic).wake_watchers(Side::Publishers, full_fence(Site::NewsFence));
    }

    /// Wakes all threads that sleep on the topic. The caller stored the news before the fence (pair 3 of `protocol`).
    /// Makes one system call for each sleeper.
    #[inline]
    pub(crate) fn wake(&self, topic: TopicIndex, fenced: Fenced) {
        self.own_lines(topic).wake(fenced);
    }

    /// The line of the topic, with the lines of all waiters.
    ///
    /// # Safety
    /// The caller keeps the board for as long as the result or a copy of it is used.
    #[inline]
    pub(crate) unsafe fn lines(&self, topic: TopicIndex) -> TopicLines {
        // SAFETY: a part of `topics`, which is in the region as long as the board is.
        let line = unsafe { InRegion::new(self.line(topic)) };
        TopicLines { topic: line, waiters: self.waiters, bit: topic.ready_bit() }
    }

    #[inline]
    fn own_lines(&self, topic: TopicIndex) -> TopicLines {
        // SAFETY: used only within calls on `self`.
        unsafe { self.lines(topic) }
    }

    /// The pid of the process that holds the registry lock now, as that process wrote it; never the pid of this
    /// process.
    pub(crate) fn holder(&self) -> Option<u32> {
        let is_locked = self.region.file().is_ok_and(|file| lock::is_locked(file, 0).unwrap_or(false));
        is_locked.then(|| self.header.holder_pid.load(Relaxed))
    }

    /// The waiter lines of the process whose id has the half `owner`; for 0, the free waiter lines.
    pub(crate) fn waiters_of(&self, owner: u64) -> Vec<WaiterIndex> {
        let lines = self.waiters[..WAITER_LINES - 1].iter().enumerate();
        lines.filter(|(_, line)| line.owner.load(Relaxed) == owner).map(|(index, _)| WaiterIndex(index)).collect()
    }

    /// Locks the byte of the board that belongs to this process alone. The lock proves that the process lives, even if
    /// its file is removed.
    pub(crate) fn prove_life(&self, owner: u64) -> Result<()> {
        match lock::try_lock(self.region.file()?, byte_of(owner)) {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.no_proof(Errno::AGAIN)),
            Err(errno) => Err(self.no_proof(errno)),
        }
    }

    fn no_proof(&self, errno: Errno) -> Error {
        Error::system(format!("lock a byte of {}", self.region.name()), errno)
    }

    /// Whether the other process whose id has the half `owner` is alive and has waiter lines. A process that leaves
    /// frees its waiter lines.
    pub(crate) fn has_living(&self, owner: u64) -> bool {
        let is_locked = |file: &SharedFile| lock::is_locked(file, byte_of(owner)).unwrap_or(true);
        !self.waiters_of(owner).is_empty() && self.region.file().map_or(true, is_locked)
    }

    /// The owners of all waiter lines. Acquire: if a process is in the result, its file had a name before it took the
    /// line.
    pub(crate) fn waiter_owners(&self) -> Vec<u64> {
        let mut owners: Vec<u64> = self.waiters.iter().map(|line| acquire(&line.owner)).collect();
        owners.sort_unstable();
        owners.dedup();
        owners.retain(|&owner| owner != 0);
        owners
    }

    /// The owners of the waiter lines whose threads sleep on this topic; 0 stands for the shared line.
    pub(crate) fn sleepers(&self, line_hash: u64) -> Vec<u64> {
        let mut owners = Vec::new();
        if let Some(topic) = self.find(line_hash) {
            sleep::each(&self.line(topic).sleepers, |waiter| {
                let line = self.waiter(waiter);
                if line.state.load(Relaxed) != WAITER_AWAKE {
                    owners.push(line.owner.load(Relaxed));
                }
            });
        }
        owners
    }

    /// Whether the board's file still has its name (B2). The lock of a board without a name is no registry lock any
    /// more, but the processes that have mapped the board still use its waiter lines.
    pub(crate) fn has_name(&self) -> bool {
        self.region.file().map_or(true, SharedFile::has_name)
    }

    /// A waiter's bell.
    pub(crate) fn bell(&self, waiter: WaiterIndex) -> &Futex {
        &self.waiter(waiter).bell
    }

    /// A waiter's line.
    #[inline]
    pub(crate) fn waiter(&self, waiter: WaiterIndex) -> &WaiterLine {
        &self.waiters[waiter.0 % WAITER_LINES]
    }
}

/// The bucket in which topics with this hash have their lines.
fn bucket_of(hash: u64) -> usize {
    hash as usize % (NAMED_LINES / BUCKET_LINES)
}

/// The byte of the board that a process locks; `owner` is a half of the id of the process. Byte 0 belongs to the
/// registry lock.
fn byte_of(owner: u64) -> i64 {
    1 + (owner >> 2) as i64
}

/// 64 random bits, not all of them 0.
pub(crate) fn random_word() -> Result<u64> {
    let mut bytes = [0; 8];
    getrandom(&mut bytes, GetRandomFlags::empty()).map_err(|e| Error::system("get random bytes", e))?;
    Ok(u64::from_le_bytes(bytes) | 1)
}

/// Takes the lock on a board within `patience`. `false` means that another process still has the lock.
pub(crate) fn wait_for_lock(board: &SharedFile, directory: &Directory, patience: Duration) -> Result<bool> {
    let (start, mut pause) = (Instant::now(), Duration::from_micros(20));
    loop {
        if lock::try_lock(board, 0).map_err(|e| Error::system(format!("lock the registry of {directory}"), e))? {
            return Ok(true);
        }
        if start.elapsed() >= patience {
            return Ok(false);
        }
        std::thread::sleep(pause);
        // The pause doubles: if many processes join at once, frequent polls would keep the lock's holder from the CPU.
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}
