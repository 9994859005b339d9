//! This process's part in one domain: its directory, its file, the board, and its view of the other processes.
//!
//! One per (root, domain) and process; nodes, publishers and subscriptions share it. Control path throughout.
//! Invariants:
//! - A1: processes join, leave and reap under the registry lock of a board that has its name (board.rs, B2).
//! - A2: whoever sees a generation of the process count sees every process that joined before it was made; a process
//!   that cannot be mapped is an error for whoever must know all (they fail closed).

use crate::{
    board::{Board, REGISTRY_PATIENCE, TopicIndex, WaiterIndex, random_word},
    description::{EndpointDescription, Gid, Role, TypeDescription},
    directory::{DEFAULT_ROOT, Directory, PROCESS_SUFFIX},
    error::{Error, Result},
    fork::Epoch,
    layout::topic_hash,
    peer::Peer,
    process_file::ProcessFile,
    qos::Qos,
    reaper,
};
use std::{
    collections::HashMap,
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, Weak, atomic::Ordering::Relaxed},
    time::Duration,
};

/// Environment variable that says where the shared memory lies.
pub const DIRECTORY_VARIABLE: &str = "GANTRY_SHM_DIR";

/// This process in one domain.
pub struct Participant {
    pub(crate) directory: Directory,
    pub(crate) board: Board,
    pub(crate) process: ProcessFile,
    pub(crate) epoch: Epoch,
    user_directory: Directory,
    domain_id: u32,
    peers: Mutex<Peers>,
}

/// The processes of the domain, this one included.
struct Peers {
    /// The count of processes that `list` is true for; `None` before the first look.
    seen_generation: Option<u64>,
    list: Arc<[Arc<Peer>]>,
    /// There was a file of a dead process that is not in `list`.
    has_remains: bool,
}

type Joined = HashMap<(PathBuf, u32, Epoch), Weak<Participant>>;

impl Participant {
    /// Joins the domain under the root that `GANTRY_SHM_DIR` names (`/dev/shm` if unset).
    ///
    /// # Errors
    /// What [`Participant::join_under`] says.
    pub fn join(domain_id: u32) -> Result<Arc<Participant>> {
        let root = std::env::var_os(DIRECTORY_VARIABLE).filter(|value| !value.is_empty());
        Participant::join_under(Path::new(root.as_deref().unwrap_or(DEFAULT_ROOT.as_ref())), domain_id)
    }

    /// Joins the domain under `root`; a process that already did gets the same participant. Removes what dead processes
    /// left in any domain of this user.
    ///
    /// # Errors
    /// The directory cannot be made or trusted, is full, or is of another version; the registry lock is held too long.
    pub fn join_under(root: &Path, domain_id: u32) -> Result<Arc<Participant>> {
        static JOINED: Mutex<Option<Joined>> = Mutex::new(None);
        let key = (root.to_owned(), domain_id, Epoch::current()?);
        let mut joined = JOINED.lock().unwrap_or_else(PoisonError::into_inner);
        let joined = joined.get_or_insert_default();
        if let Some(participant) = joined.get(&key).and_then(Weak::upgrade) {
            return Ok(participant);
        }
        let participant = Arc::new(Participant::join_domain(root, domain_id)?);
        joined.retain(|_, weak| weak.strong_count() > 0);
        joined.insert(key, Arc::downgrade(&participant));
        Ok(participant)
    }

    fn join_domain(root: &Path, domain_id: u32) -> Result<Participant> {
        // Again, when the last of the others leaves and takes board and directories with it; each turn is one such race.
        for _ in 0..1000 {
            let user_directory = Directory::of_user(root)?;
            match Participant::try_join(user_directory, domain_id) {
                Ok(None) => {}
                Err(e) if e.is_not_found() => {}
                Ok(Some(participant)) => return Ok(participant),
                Err(e) => return Err(e),
            }
        }
        let action = format!(
            "join domain {domain_id} under {}: its directory is removed each time (or /proc is not mounted)",
            root.display()
        );
        Err(Error::system(action, ErrorKind::NotFound))
    }

    /// `None`, or an error that says "not found": somebody removed the domain meanwhile.
    fn try_join(user_directory: Directory, domain_id: u32) -> Result<Option<Participant>> {
        let domain = domain_id.to_string();
        reaper::reap_other_domains(&user_directory, &domain)?;
        let directory = user_directory.of_domain(&domain)?;
        let Some(board) = Board::open_or_create(&directory)? else { return Ok(None) };
        let Some(registry) = board.lock(&directory, REGISTRY_PATIENCE)? else { return Ok(None) };
        reaper::reap(&directory, &board, &registry)?;
        reaper::check_one_board(&directory, &board)?;
        let process = ProcessFile::create(&directory, domain_id, board.id())?;
        process.link(&directory)?;
        board.processes_changed();
        drop(registry);
        let peers = Mutex::new(Peers { seen_generation: None, list: Arc::new([]), has_remains: false });
        let epoch = Epoch::current()?;
        Ok(Some(Participant { directory, board, process, epoch, user_directory, domain_id, peers }))
    }

    /// The domain.
    #[must_use]
    pub fn domain_id(&self) -> u32 {
        self.domain_id
    }

    /// All processes of the domain that are not known to be dead (A2).
    pub(crate) fn peers(&self) -> Result<Arc<[Arc<Peer>]>> {
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        let generation = self.board.processes_generation();
        if peers.seen_generation != Some(generation) {
            peers.has_remains = false;
            // A peer whose file somebody removed stays as long as it lives: its pins count.
            let mut list: Vec<Arc<Peer>> = peers.list.iter().filter(|peer| peer.is_alive()).cloned().collect();
            for name in self.directory.files()? {
                if name.ends_with(PROCESS_SUFFIX) && !list.iter().any(|peer| peer.file_name == name) {
                    match Peer::open(&self.directory, &name) {
                        Ok(peer) if peer.is_alive() => list.push(Arc::new(peer)),
                        Err(e) if reaper::may_live(&self.directory, &name) => return Err(e),
                        Ok(_) | Err(_) => peers.has_remains = true,
                    }
                }
            }
            peers.list = list.into();
            peers.seen_generation = Some(generation);
        }
        Ok(peers.list.clone())
    }

    /// The description of a new endpoint of this process.
    pub(crate) fn describe(
        &self,
        role: Role,
        node: &str,
        topic: &str,
        message_type: TypeDescription,
        qos: Qos,
    ) -> Result<EndpointDescription> {
        self.epoch.check()?;
        qos.check()?;
        let (number, gid) = self.process.new_endpoint_id();
        let key = if role == Role::Publisher { random_word()? } else { 0 };
        let (node, topic, domain_id) = (node.to_owned(), topic.to_owned(), self.domain_id);
        Ok(EndpointDescription { role, domain_id, gid: Gid(gid), node, topic, message_type, qos, key, number })
    }

    /// The living endpoints of one role on a topic, each with its process. What cannot be read is passed over, with a
    /// sentence in `problems`.
    pub(crate) fn endpoints(
        &self,
        topic: &str,
        role: Role,
        problems: &mut Vec<String>,
    ) -> Result<Vec<(Arc<Peer>, EndpointDescription)>> {
        let mut found = Vec::new();
        for peer in self.peers()?.iter().filter(|peer| peer.is_alive()) {
            let endpoints = peer.endpoints(Some(topic_hash(topic))).unwrap_or_else(|error| {
                problems.push(error.to_string());
                Vec::new()
            });
            let matching = endpoints.into_iter().filter(|endpoint| endpoint.role == role && endpoint.topic == topic);
            found.extend(matching.map(|endpoint| (peer.clone(), endpoint)));
        }
        Ok(found)
    }

    /// Probes all peers (half a microsecond each); if one died, removes what it left and tells its partners, unless
    /// somebody else is at it.
    pub(crate) fn look_for_deaths(&self) -> Result<()> {
        let died = self.peers()?.iter().any(|peer| !peer.is_alive());
        if died || self.peers.lock().unwrap_or_else(PoisonError::into_inner).has_remains {
            if let Some(registry) = self.board.try_lock(&self.directory)? {
                reaper::reap(&self.directory, &self.board, &registry)?;
            }
            // The dead drop out of the list even if somebody else was quicker to reap them.
            self.peers.lock().unwrap_or_else(PoisonError::into_inner).seen_generation = None;
        }
        Ok(())
    }

    /// A waiter line of this process; waits for the registry lock up to `patience`.
    pub(crate) fn take_waiter(&self, patience: Duration) -> Result<WaiterIndex> {
        let held = self.process.held_waiters()?;
        match self.board.lock(&self.directory, patience)? {
            Some(registry) => Ok(registry.take_waiter(held)),
            None => Err(self.board_removed()),
        }
    }

    /// Gives a waiter line back.
    pub(crate) fn free_waiter(&self, waiter: WaiterIndex) {
        let set = waiter.as_set();
        // If the lock cannot be had, the line stays taken until this process is gone.
        let registry = self.board.lock(&self.directory, REGISTRY_PATIENCE);
        if let (Ok(held), Ok(Some(registry))) = (self.process.held_waiters(), registry) {
            // First our own note: killed in between, we leave a line unused, and never free one that is another's by then.
            for (word, bits) in held.iter().zip(set) {
                word.fetch_and(!bits, Relaxed);
            }
            registry.free_waiters(&set);
        }
    }

    /// The board's line for a topic.
    pub(crate) fn topic(&self, topic: &str) -> TopicIndex {
        self.board.topic(topic_hash(topic))
    }

    fn board_removed(&self) -> Error {
        let path = self.directory.path().to_owned();
        let why = "somebody removed its board while processes use it; restart the programs of this domain".to_owned();
        Error::ForeignDirectory { path, why }
    }

    fn leave(&self) -> Result<()> {
        let file_name = self.process.file_name();
        // If the lock cannot be had, all stays as it is: the lock on our file goes with us, and a reaper sees to the rest.
        let Some(registry) = self.board.lock(&self.directory, REGISTRY_PATIENCE)? else {
            // The board was removed under us; nobody knows of our waiters.
            return self.directory.unlink(&file_name);
        };
        registry.free_waiters(&self.process.held_waiters()?.each_ref().map(|word| word.load(Relaxed)));
        self.directory.unlink(&file_name)?;
        self.board.processes_changed();
        let left = reaper::reap(&self.directory, &self.board, &registry)?;
        reaper::remove_if_unused(&self.user_directory, &self.domain_id.to_string(), &self.directory, left)?;
        if left == 0 {
            // Not there or not empty: other domains are in use.
            let _ = std::fs::remove_dir(self.user_directory.path());
        }
        Ok(())
    }
}

impl Drop for Participant {
    fn drop(&mut self) {
        if self.epoch.is_current() {
            // Nobody to tell; the next process that joins removes what is left.
            let _ = self.leave();
        }
    }
}

impl std::fmt::Debug for Participant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Participant({})", self.directory)
    }
}
