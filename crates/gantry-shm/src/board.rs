//! The board of a domain: who sleeps on which topic, bells to wake them, and the registry lock.
//!
//! Used by publishers (look at the sleepers, ring), waiters, joiners and the reaper. It is the only memory with many
//! writers; damage to it can cost a wake-up or delay the sight of a joiner, and never points anywhere (B1).
//!
//! A board is made by the first process of a domain and removed by the last, both under the registry lock, which is an
//! OFD lock on the board itself; whoever gets the lock checks that the board still has its name (B2).

use crate::{
    crash::{self, Point},
    directory::{BOARD_NAME, Directory, PROCESS_SUFFIX},
    error::{Error, Result},
    file::SharedFile,
    layout::*,
    lock,
    protocol::sleep::{self, SHARED_WAITER, Side, WaiterIndex},
    reaper::may_live,
    region::Region,
    shared::InRegion,
    sync::{AtomicU64, Futex, Ordering::*, acquire},
};
use rustix::{
    fs::fstat,
    io::Errno,
    rand::{GetRandomFlags, getrandom},
};
use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// How long a joiner waits for the registry lock before it says who holds it.
pub(crate) const REGISTRY_PATIENCE: Duration = Duration::from_secs(5);

/// A mapped board.
pub(crate) struct Board {
    region: Region,
    /// The three parts of `region`.
    header: InRegion<BoardHeader>,
    topics: InRegion<[TopicLine; TOPIC_LINES]>,
    waiters: InRegion<[WaiterLine; WAITER_LINES]>,
    /// The OFD lock belongs to our one description, so threads of this process exclude each other here.
    registry: Mutex<()>,
}

/// The registry lock, held: nobody joins, leaves or reaps meanwhile.
pub(crate) struct Registry<'a> {
    board: &'a Board,
    _threads: MutexGuard<'a, ()>,
}

/// A topic's line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TopicIndex(usize);

impl Board {
    /// Opens the domain's board, or makes it. `Ok(None)`: somebody else was quicker; begin again.
    pub(crate) fn open_or_create(directory: &Directory) -> Result<Option<Board>> {
        match Board::open(directory) {
            Ok(board) => Ok(Some(board)),
            Err(e) if e.is_not_found() => Board::create(directory),
            Err(e @ (Error::Incompatible { .. } | Error::Corrupt { .. })) => Board::remove_unused(directory, e),
            Err(e) => Err(e),
        }
    }

    /// Removes the board of another version, or a damaged one, if nobody lives who may use it; `unusable` says what is wrong with
    /// it. Its lock, which all versions have in the same place, is the right to do so.
    fn remove_unused(directory: &Directory, unusable: Error) -> Result<Option<Board>> {
        let file = SharedFile::open(directory, BOARD_NAME, true)?;
        let is_ours = lock::try_lock(&file).map_err(|e| Error::system(format!("lock the board of {directory}"), e))?;
        if is_ours && file.stat(BOARD_NAME)?.st_nlink > 0 {
            if directory.files()?.iter().any(|name| name.ends_with(PROCESS_SUFFIX) && may_live(directory, name)) {
                return Err(unusable);
            }
            directory.unlink(BOARD_NAME)?;
        }
        Ok(None)
    }

    /// Opens the domain's board if there is one.
    pub(crate) fn open(directory: &Directory) -> Result<Board> {
        Board::attach(Region::open(directory, BOARD_NAME, BOARD_MAGIC, true)?)
    }

    /// Opens it to look and never to write.
    pub(crate) fn open_to_look(directory: &Directory) -> Result<Board> {
        Board::attach(Region::open(directory, BOARD_NAME, BOARD_MAGIC, false)?)
    }

    fn create(directory: &Directory) -> Result<Option<Board>> {
        let kind = (BOARD_MAGIC, "the board of a domain");
        let region = Region::create(directory, BOARD_NAME, kind, BOARD_BYTES, BOARD_BYTES)?;
        let id = random_word()?;
        let header = region.pointer(0, size_of::<BoardHeader>(), LINE_BYTES)?.cast::<BoardHeader>();
        // SAFETY: inside the mapping and aligned (`pointer`); the file has no name yet, so nobody else can look.
        let header = unsafe { &mut *header.as_ptr() };
        header.id = id;
        crash::point(Point::BoardWritten);
        match region.link(directory, BOARD_NAME) {
            Ok(()) => Board::attach(region).map(Some),
            // Somebody was quicker, or removed the directory: the caller looks again.
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
        // SAFETY: the board keeps the region as long as these three.
        let header = unsafe { InRegion::new(region.at::<BoardHeader>(0)?) };
        // SAFETY: as above.
        let topics = unsafe { InRegion::new(region.at(BOARD_TOPICS_OFFSET)?) };
        // SAFETY: as above.
        let waiters = unsafe { InRegion::new(region.at(BOARD_WAITERS_OFFSET)?) };
        Ok(Board { region, header, topics, waiters, registry: Mutex::new(()) })
    }

    /// What the processes that use this board say.
    pub(crate) fn id(&self) -> u64 {
        self.header.id
    }

    /// Takes the registry lock; waits for it up to `patience`.
    pub(crate) fn lock(&self, directory: &Directory, patience: Duration) -> Result<Registry<'_>> {
        let start = Instant::now();
        let threads = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        let mut pause = Duration::from_micros(20);
        while !self.try_lock_file(directory)? {
            if start.elapsed() >= patience {
                return Err(Error::RegistryBusy {
                    directory: directory.path().to_owned(),
                    pid: self.header.holder_pid.load(Relaxed),
                    waited_ms: start.elapsed().as_millis() as u64,
                });
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(2));
        }
        Ok(self.locked(threads))
    }

    /// Takes the registry lock if nobody has it.
    pub(crate) fn try_lock(&self, directory: &Directory) -> Result<Option<Registry<'_>>> {
        let Ok(threads) = self.registry.try_lock() else { return Ok(None) };
        Ok(self.try_lock_file(directory)?.then(|| self.locked(threads)))
    }

    fn try_lock_file(&self, directory: &Directory) -> Result<bool> {
        lock::try_lock(self.region.file()?).map_err(|e| Error::system(format!("lock the registry of {directory}"), e))
    }

    fn locked<'a>(&'a self, threads: MutexGuard<'a, ()>) -> Registry<'a> {
        let registry = Registry { board: self, _threads: threads };
        crash::point(Point::RegistryLocked);
        self.header.holder_pid.store(std::process::id(), Relaxed);
        registry
    }

    /// Count of changes of the set of processes; compare with the value of the last look at the directory.
    pub(crate) fn processes_generation(&self) -> u64 {
        acquire(&self.header.processes_generation)
    }

    /// Says that the set of processes changed. Release: who sees the new count sees the changed directory.
    pub(crate) fn processes_changed(&self) {
        self.header.processes_generation.fetch_add(1, Release);
        crash::point(Point::ProcessesChanged);
    }

    /// The line of the topic with this name, claimed if it has none. Topics share lines when all are claimed.
    pub(crate) fn topic(&self, name_hash: u64) -> TopicIndex {
        let first = name_hash as usize % TOPIC_LINES;
        for probe in 0..TOPIC_LINES {
            let index = (first + probe) % TOPIC_LINES;
            // Relaxed: the hash is all there is to see; a line's other words are valid from the beginning.
            match self.topics[index].name_hash.compare_exchange(0, name_hash, Relaxed, Relaxed) {
                Ok(_) => {
                    crash::point(Point::TopicClaimed);
                    return TopicIndex(index);
                }
                Err(taken) if taken == name_hash => return TopicIndex(index),
                Err(_) => {}
            }
        }
        TopicIndex(first)
    }

    /// The line of a topic.
    #[inline]
    pub(crate) fn line(&self, topic: TopicIndex) -> &TopicLine {
        &self.topics[topic.0 % TOPIC_LINES]
    }

    /// Says that one side of a topic changed, wakes whom it concerns, and returns the new generation.
    pub(crate) fn topic_changed(&self, topic: TopicIndex, side: Side) -> u64 {
        sleep::topic_changed(self.line(topic), side, |waiter| self.bell(waiter).ring())
    }

    /// Makes the control threads of a topic's readers look.
    pub(crate) fn call_readers(&self, topic: TopicIndex) {
        sleep::wake(&self.line(topic).publishers_watchers, |waiter| self.bell(waiter).ring());
    }

    /// Rings everybody who sleeps on the topic. A SeqCst fence must stand between the news and this (3).
    /// Makes a system call for each sleeper, none if there is none.
    #[inline]
    pub(crate) fn wake(&self, line: &TopicLine) {
        sleep::wake(&line.sleepers, |waiter| self.bell(waiter).ring());
    }

    /// The pid of who holds the registry lock just now, as far as it said so; not of this process.
    pub(crate) fn holder(&self) -> Option<u32> {
        let is_locked = self.region.file().is_ok_and(|file| lock::is_locked(file).unwrap_or(false));
        is_locked.then(|| self.header.holder_pid.load(Relaxed))
    }

    /// How many waiter lines are nobody's.
    pub(crate) fn free_waiters(&self) -> usize {
        let taken = self.header.waiters_taken.iter().map(|bits| bits.load(Relaxed).count_ones() as usize);
        (WAITER_LINES - 1).saturating_sub(taken.sum())
    }

    /// How many sleep on the topic with this name's hash.
    pub(crate) fn sleepers(&self, name_hash: u64) -> usize {
        let line = self.topics.iter().find(|line| line.name_hash.load(Relaxed) == name_hash);
        line.map_or(0, |line| line.sleepers.iter().map(|bits| bits.load(Relaxed).count_ones() as usize).sum())
    }

    /// A waiter's bell.
    pub(crate) fn bell(&self, waiter: WaiterIndex) -> &Futex {
        &self.waiters[waiter.0 % WAITER_LINES].bell
    }
}

impl Registry<'_> {
    /// B2: whether the board still has its name. If not, it is nobody's registry any more, though its waiter lines serve those who
    /// have it.
    pub(crate) fn has_name(&self) -> Result<bool> {
        let stat = fstat(self.board.region.file()?).map_err(|e| Error::system("look at the board", e))?;
        Ok(stat.st_nlink > 0)
    }

    /// A waiter's line for this process, which notes it in `held` for its reaper; the shared one if all are taken.
    pub(crate) fn take_waiter(&self, held: &[AtomicU64; WAITER_WORDS]) -> WaiterIndex {
        for (word, taken) in self.board.header.waiters_taken.iter().enumerate() {
            let bits = taken.load(Relaxed); // Relaxed: the registry lock orders its holders
            let waiter = word * 64 + bits.trailing_ones() as usize;
            if bits != u64::MAX && waiter < WAITER_LINES - 1 {
                // First the board: killed in between, we leave a line unused, and no reaper frees one that is another's.
                taken.store(bits | 1 << (waiter % 64), Relaxed);
                crash::point(Point::WaiterTaken);
                held[word].fetch_or(1 << (waiter % 64), Relaxed);
                crash::point(Point::WaiterNoted);
                return WaiterIndex(waiter);
            }
        }
        SHARED_WAITER
    }

    /// Frees the waiters in `held`, a set of waiter lines, and takes their announcements back on every topic.
    pub(crate) fn free_waiters(&self, held: &[u64; WAITER_WORDS]) {
        if held.iter().all(|&bits| bits == 0) {
            return;
        }
        for line in self.board.topics.iter().filter(|line| line.name_hash.load(Relaxed) != 0) {
            let sets = [&line.sleepers, &line.readers_watchers, &line.publishers_watchers];
            for (waiters, bits) in sets.into_iter().flat_map(|set| set.iter().zip(held)) {
                waiters.fetch_and(!bits, Relaxed);
            }
        }
        crash::point(Point::WaitersSilenced);
        for (taken, bits) in self.board.header.waiters_taken.iter().zip(held) {
            taken.fetch_and(!bits, Relaxed);
        }
        crash::point(Point::WaitersFreed);
    }
}

impl WaiterIndex {
    /// As a bit set, for [`Registry::free_waiters`]; empty for the shared waiter.
    pub(crate) fn as_set(self) -> [u64; WAITER_WORDS] {
        let mut set = [0; WAITER_WORDS];
        if self != SHARED_WAITER {
            set[self.0 / 64] = 1 << (self.0 % 64);
        }
        set
    }
}

impl Drop for Registry<'_> {
    fn drop(&mut self) {
        crash::point(Point::RegistryUnlocks);
        // Cannot fail on a descriptor that is open; if it did, closing the board would unlock.
        let _ = self.board.region.file().map(lock::unlock);
    }
}

/// 64 random bits, not all of them 0.
pub(crate) fn random_word() -> Result<u64> {
    let mut bytes = [0; 8];
    getrandom(&mut bytes, GetRandomFlags::empty()).map_err(|e| Error::system("get random bytes", e))?;
    Ok(u64::from_le_bytes(bytes) | 1)
}
