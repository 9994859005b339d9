//! One domain from the view of this process: the domain's directory and board, this process's file, and the
//! other processes.
//!
//! The participant, samples, connections and the control thread keep the domain; dropping the last reference leaves the
//! domain. This module is on the control path. Invariants:
//! - A1: processes join, leave and reap under the registry lock of a board that has its name (board.rs, B2).
//! - A2: a listing contains every process whose file has a name and that joined before the generation of processes was
//!   loaded. A caller that must see all processes gets an error if one of them cannot be mapped or listed.

pub(crate) mod board;
pub(crate) mod control;
pub(crate) mod endpoints;
pub(crate) mod joining;
pub(crate) mod participant;
pub(crate) mod peer;
pub(crate) mod process_file;
pub(crate) mod publisher_mapping;
pub(crate) mod publisher_mappings;
pub(crate) mod reaper;
pub(crate) mod registry;
pub(crate) mod sender;
pub(crate) mod topics;

use crate::{
    crash::{self, Point},
    describe::{
        description::{EndpointDescription, Gid, NO_PUBLISHER, Role},
        qos::Qos,
        type_description::TypeDescription,
    },
    domain::{
        board::{Board, random_word},
        endpoints::{KnownEndpoints, PeerEndpoint, Selection, UnreadableProcess},
        peer::{EndpointCounts, Peer},
        process_file::{ProcessFile, name_beginning, waiter_owner},
        publisher_mappings::PublisherMappings,
        registry::REGISTRY_PATIENCE,
        topics::HeldTopics,
    },
    error::{Error, Result},
    os::{
        directory::{Directory, PROCESS_SUFFIX},
        fork::Epoch,
    },
    protocol::{listing::may_have_joined, sleep::WaiterIndex},
};
use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicBool},
    time::Duration,
};

/// The time between two probes of a process. A probe shows whether the process has died.
pub(crate) const PROBE_PERIOD: Duration = Duration::from_secs(1);
/// The smallest average number of processes that probe one process in a period.
const PROBING_PEERS: usize = 8;

/// The longest mean time between two probes of one process, in periods.
const MAX_PROBE_PERIODS: usize = 8;

/// This process in one domain.
pub(crate) struct Domain {
    pub(crate) directory: Directory,
    pub(crate) board: Board,
    pub(crate) process: ProcessFile,
    pub(crate) epoch: Epoch,
    user_directory: Directory,
    pub(crate) domain_id: u32,
    /// The waiter line on which the control thread sleeps.
    pub(crate) control_waiter: WaiterIndex,
    peers: Mutex<Peers>,
    known_endpoints: KnownEndpoints,
    held_topics: HeldTopics,
    /// Whether the file of this process was once found without a name.
    lost_name: AtomicBool,
    /// The publishers' files that subscriptions of this process have mapped.
    publishers: PublisherMappings,
}

/// The processes of the domain, this one included.
#[derive(Default)]
struct Peers {
    /// The generation of the domain's processes for which `list` is complete; `None` before the first listing.
    seen_generation: Option<u64>,
    /// The processes, sorted by their files' names.
    list: Arc<[Arc<Peer>]>,
    /// The living owners of waiter lines whose files were removed before this process listed them.
    unlisted_owners: Vec<u64>,
    /// Whether the last listing found the file of a dead process that `list` does not contain.
    has_remains: bool,
    /// Dead processes whose deaths are not announced yet and whose files have no names, so that no listing of the
    /// directory shows them.
    unannounced_deaths: Vec<Arc<Peer>>,
}

impl Domain {
    /// Joins the domain: makes this process's file under the registry lock, after removing the files of dead processes.
    pub(crate) fn join(root: &Path, domain_id: u32) -> Result<Domain> {
        let mut path = PathBuf::new();
        let root_path = root.display();
        let action = format!(
            "join domain {domain_id} under {root_path}: another process removes its directory in each attempt (or \
             /proc is not mounted)"
        );
        let mut error = Error::system(action, ErrorKind::NotFound);
        // An attempt fails if the last other process leaves at the same time and removes the board and the directories.
        // Each such race costs one attempt.
        for _ in 0..1000 {
            let user_directory = Directory::make_for_user(root)?;
            path = user_directory.path().to_owned();
            match Domain::try_join(user_directory, domain_id) {
                Ok(Some(domain)) => return Ok(domain),
                Ok(None) => {}
                Err(e) if e.is_not_found() => {}
                Err(e) => {
                    error = e;
                    break;
                }
            }
        }
        // Removes the directories that this process made, if no other process uses them.
        let _ = std::fs::remove_dir(path.join(domain_id.to_string()));
        let _ = std::fs::remove_dir(path);
        Err(error)
    }

    /// Tries once to join. `None`, or an error with the kind "not found", means that the domain was removed meanwhile.
    fn try_join(user_directory: Directory, domain_id: u32) -> Result<Option<Domain>> {
        let domain = domain_id.to_string();
        reaper::reap_other_domains(&user_directory, &domain)?;
        let directory = user_directory.make(&domain)?;
        let Some(board) = Board::open_or_create(&directory, REGISTRY_PATIENCE)? else { return Ok(None) };
        let registry = board.lock(&directory, REGISTRY_PATIENCE)?;
        if !board.has_name() {
            return Ok(None);
        }
        reaper::reap(&registry)?;
        peer::liveness::check_one_board(&directory, Some(board.id()))?;
        let made = ProcessFile::create(&directory, domain_id, board.id());
        let process = match made.and_then(|process| board.prove_life(waiter_owner(process.id())).map(|()| process)) {
            Ok(process) => process,
            Err(e) => {
                // The board may be without any process now. This call then removes it; if the call fails, the next
                // process that joins does so.
                let _ = reaper::reap_or_remove(&registry, &user_directory, &domain);
                return Err(e);
            }
        };
        board.processes_changed();
        let control_waiter = board.take_waiter(waiter_owner(process.id()));
        drop(registry);
        let (epoch, peers, publishers) = (Epoch::current()?, Mutex::default(), PublisherMappings::default());
        let (known_endpoints, held_topics) = (KnownEndpoints::default(), HeldTopics::default());
        Ok(Some(Domain {
            directory,
            board,
            process,
            epoch,
            user_directory,
            domain_id,
            control_waiter,
            peers,
            known_endpoints,
            held_topics,
            lost_name: AtomicBool::new(false),
            publishers,
        }))
    }

    /// All processes of the domain that are not known to be dead (A2).
    pub(crate) fn peers(&self) -> Result<Arc<[Arc<Peer>]>> {
        Ok(self.listed()?.list.clone())
    }

    /// All processes of the domain, for a publisher that must see every reader. Returns an error if a living process is
    /// missing in the result, except a process in `unlisted_before`: such a process lost the name of its file before
    /// the publisher was created, and joins no publisher.
    pub(crate) fn all_peers(&self, unlisted_before: &[u64]) -> Result<Arc<[Arc<Peer>]>> {
        let peers = self.listed()?;
        match may_have_joined(&peers.unlisted_owners, unlisted_before) {
            None => Ok(peers.list.clone()),
            Some(owner) => Err(Error::Removed {
                file: self.directory.path().join(format!("{}*{PROCESS_SUFFIX}", name_beginning(owner))),
                what: "the pins of a reader that may have joined".to_owned(),
            }),
        }
    }

    /// The owners of waiter lines that are not among [`Domain::peers`], because their files were removed before this
    /// process listed the directory.
    pub(crate) fn unlisted_owners(&self) -> Result<Vec<u64>> {
        Ok(self.listed()?.unlisted_owners.clone())
    }

    /// Lists the processes whose files have names, and the processes without a name (`protocol::listing`).
    fn listed(&self) -> Result<MutexGuard<'_, Peers>> {
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        let generation = self.board.processes_generation();
        if peers.seen_generation != Some(generation) || !peers.unlisted_owners.is_empty() {
            // The owners are read before the listing: a process gets its name and its lock before its waiter lines, and
            // frees its waiter lines before its name is removed.
            let mut owners = self.board.waiter_owners();
            peers.has_remains = false;
            // A process whose file was removed stays in the list for as long as it lives, because publishers must
            // still honour its pins.
            let (mut list, dead): (Vec<_>, Vec<_>) = peers.list.iter().cloned().partition(|peer| peer.is_alive());
            // A process that is being killed may lose the lock of its file before the lock of its byte of the board.
            // The owners in this list do not count as alive below, although the board may still show their lock.
            let mut dead_owners: Vec<u64> = dead.iter().map(|peer| waiter_owner(&peer.id)).collect();
            let is_unannounced = |peer: &Arc<Peer>| !peer.has_name() && reaper::is_unannounced(peer, &self.board);
            peers.unannounced_deaths.extend(dead.into_iter().filter(is_unannounced));
            let known = list.len();
            for name in self.directory.files()? {
                let is_known = || list[..known].binary_search_by(|peer| peer.file_name.cmp(&name)).is_ok();
                if name.ends_with(PROCESS_SUFFIX) && !is_known() {
                    match Peer::open(&self.directory, &name) {
                        Ok(peer) if peer.is_alive() => list.push(Arc::new(peer)),
                        Err(e) if peer::liveness::may_live(&self.directory, &name) => return Err(e),
                        opened => {
                            dead_owners.extend(opened.ok().map(|peer| waiter_owner(&peer.id)));
                            peers.has_remains = true;
                        }
                    }
                }
            }
            list.sort_unstable_by(|one, other| one.file_name.cmp(&other.file_name));
            owners.retain(|&owner| {
                !dead_owners.contains(&owner)
                    && list.binary_search_by(|peer| peer.id[..8].cmp(&owner.to_le_bytes())).is_err()
                    && (owner == waiter_owner(self.process.id()) || self.board.has_living(owner))
            });
            peers.unlisted_owners = owners;
            peers.list = list.into();
            peers.seen_generation = Some(generation);
        }
        Ok(peers)
    }

    /// The number of processes at the last listing.
    pub(crate) fn known_peers(&self) -> usize {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner).list.len()
    }

    /// Makes the description of a new endpoint of this process.
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
        let key = if role == Role::Publisher { random_word()? } else { NO_PUBLISHER };
        let (node, topic, domain_id) = (node.to_owned(), topic.to_owned(), self.domain_id);
        let description =
            EndpointDescription { role, domain_id, gid: Gid(gid), node, topic, message_type, qos, key, number };
        description.check_length()?;
        Ok(description)
    }

    /// The selected endpoints and nodes of some processes, each with its process and its counters. A process that
    /// cannot be read is left out, and `unreadable` gets the process with the reason.
    pub(crate) fn entries(
        &self,
        selection: Selection<'_>,
        unreadable: &mut Vec<UnreadableProcess>,
        is_meant: impl Fn(&Peer) -> bool,
    ) -> Result<Vec<(PeerEndpoint, EndpointCounts)>> {
        let (mut entries, keys) = (Vec::new(), selection.keys());
        for peer in self.peers()?.iter().filter(|peer| is_meant(peer)) {
            match peer.endpoints(keys.as_deref()) {
                Ok(mut found) => {
                    found.retain(|(endpoint, _)| selection.has(endpoint));
                    entries.extend(found.into_iter().map(|(endpoint, counts)| ((peer.clone(), endpoint), counts)));
                }
                Err(error) => unreadable.push((peer.clone(), error.to_string())),
            }
        }
        Ok(entries)
    }

    /// Returns an error about an endpoint of the opposite role on `own`'s topic that does not match: an endpoint with
    /// another type, or else one with incompatible QoS. `None` if there is no such endpoint.
    pub(crate) fn mismatch(&self, own: &EndpointDescription) -> Option<Error> {
        let is_publisher = own.role == Role::Publisher;
        let other_role = if is_publisher { Role::Subscription } else { Role::Publisher };
        // A process that cannot be read does not count as a mismatch.
        let others = self.endpoints(&own.topic, other_role).unwrap_or_default();
        let ends = || others.list.iter().map(|(_, it)| if is_publisher { (own, &**it) } else { (&**it, own) });
        let of_types = ends().find_map(|(publisher, subscription)| publisher.type_mismatch(subscription));
        let of_qos = || ends().find_map(|(publisher, subscription)| publisher.mismatch(subscription));
        match of_types {
            Some(mismatch) => Some(Error::TypeMismatch { mismatch }),
            None => of_qos().map(|mismatch| Error::IncompatibleQos { mismatch }),
        }
    }

    /// Probes all other processes (half a microsecond each). If one has died, removes its files and announces its
    /// death, unless another process is reaping now.
    pub(crate) fn reap_dead(&self) -> Result<()> {
        let died = self.peers()?.iter().any(|peer| !peer.is_alive());
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        if !died && !peers.has_remains && peers.unannounced_deaths.is_empty() {
            return Ok(());
        }
        // Deaths that remain because another process is reaping are noticed at the next probe.
        let Some(registry) = self.board.try_lock(&self.directory)? else { return Ok(()) };
        let is_registry = self.board.has_name();
        let (alive, dead): (Vec<_>, Vec<_>) = peers.list.iter().cloned().partition(|peer| peer.is_alive());
        peers.list = alive.into();
        let unannounced_deaths = std::mem::take(&mut peers.unannounced_deaths);
        // This loop announces the deaths that `reaper::reap` does not handle. `reap` handles dead processes whose files
        // have names, and only if this board still has its name.
        let is_ours =
            |peer: &&Arc<Peer>| !(is_registry && peer.has_name()) && reaper::is_unannounced(peer, &self.board);
        for peer in dead.iter().chain(&unannounced_deaths).filter(is_ours) {
            reaper::announce_death(peer, &registry);
        }
        if is_registry {
            reaper::reap(&registry)?;
        }
        peers.seen_generation = None;
        Ok(())
    }

    /// The time until this process probes again. If there are many processes, each process probes seldom, so that even
    /// 100 idle processes hardly use a CPU, and at random times, so that they do not all probe at once. Together, the
    /// processes notice a death within about a second.
    pub(crate) fn until_probe(&self) -> Duration {
        let periods = (self.known_peers() / PROBING_PEERS).clamp(1, MAX_PROBE_PERIODS) as u32;
        if periods == 1 {
            return PROBE_PERIOD;
        }
        let random = random_word().unwrap_or(u64::MAX / 2) as f64 / u64::MAX as f64;
        (2 * periods * PROBE_PERIOD).mul_f64(random)
    }

    fn leave(&self) -> Result<()> {
        let file_name = self.process.file_name();
        // Nothing is removed here if the registry lock cannot be taken. The lock on this process's file ends with the
        // process, and a reaper then removes the rest.
        let registry = self.board.lock(&self.directory, REGISTRY_PATIENCE)?;
        registry.free_waiters_of(waiter_owner(self.process.id()));
        self.directory.unlink(&file_name)?;
        self.board.processes_changed();
        if !self.board.has_name() {
            return Ok(()); // the board was removed while in use, so nothing else may be removed
        }
        if reaper::reap_or_remove(&registry, &self.user_directory, &self.domain_id.to_string())? == 0 {
            // The removal fails if other domains are in use, because the directory is then not empty.
            let _ = std::fs::remove_dir(self.user_directory.path());
            crash::point(Point::DirectoryRemoved);
        }
        Ok(())
    }
}

impl Drop for Domain {
    fn drop(&mut self) {
        if self.epoch.is_current() {
            // A drop returns no error; the next process that joins removes the remaining files.
            let _ = self.leave();
        }
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;
    use crate::Participant;

    /// The process has lost the lock of its file, but not yet the lock of its byte of the board. It must not count as a
    /// living process without a file.
    #[test]
    fn a_process_that_is_being_killed_is_no_unlisted_one() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let participant = Participant::join_under(root.path(), 0).unwrap();
        let domain = &participant.domain;
        let board = Board::open_or_create(&domain.directory, REGISTRY_PATIENCE).unwrap().unwrap();
        let _no_reaper = board.lock(&domain.directory, REGISTRY_PATIENCE).unwrap();
        for was_listed in [false, true] {
            let process = ProcessFile::create(&domain.directory, 0, board.id()).unwrap();
            let owner = waiter_owner(process.id());
            board.prove_life(owner).unwrap();
            board.take_waiter(owner);
            board.processes_changed();
            if was_listed {
                assert!(domain.peers().unwrap().iter().any(|peer| peer.id == *process.id()));
            }
            drop(process);
            board.processes_changed();
            assert!(domain.board.has_living(owner));
            assert_eq!(domain.unlisted_owners().unwrap(), []);
        }
    }
}
