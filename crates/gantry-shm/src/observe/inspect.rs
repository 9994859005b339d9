//! The inspection of a domain from outside: processes, endpoints, holders of samples, and problems.
//!
//! The inspection writes nothing, takes no lock, makes no file and needs no membership in the domain. It may see only a
//! part of changes that happen meanwhile. This module is on the control path.

use crate::{
    describe::description::{EndpointDescription, NO_PUBLISHER, Role},
    domain::{
        board::Board,
        participant::Participant,
        peer::{EndpointCounts, Peer, PeerRecord, holder::holders, records_of},
        process_file::{owner_id, process_id, publisher_file_name, waiter_owner},
    },
    error::Result,
    observe::{
        mapped_publishers::{MappedPublishers, recent_sample_bytes},
        report::{DomainReport, ProcessReport, PublisherReport, PublisherState, ReaderReport, SubscriptionReport},
    },
    os::directory::{Directory, PROCESS_SUFFIX, PUBLISHER_SUFFIX, shared_memory_directory},
    protocol::{
        layout::{READER_ACTIVE, READER_GATING, line_hash},
        sync::Ordering::Relaxed,
    },
};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The domains of this user under the root that `GANTRY_SHM_DIR` names (`/dev/shm` if unset) that have processes or
/// files of dead processes.
///
/// # Errors
/// The user's directory cannot be trusted or read.
pub fn domains() -> Result<Vec<u32>> {
    domains_under(&shared_memory_directory())
}

/// The domains of this user under `root` that have processes or files of dead processes.
///
/// # Errors
/// The user's directory cannot be trusted or read.
pub fn domains_under(root: &Path) -> Result<Vec<u32>> {
    let Some(user_directory) = present(Directory::existing_of_user(root))? else { return Ok(Vec::new()) };
    let mut domains: Vec<u32> = user_directory.directories()?.iter().filter_map(|name| name.parse().ok()).collect();
    domains.sort_unstable();
    Ok(domains)
}

/// Inspects a domain under the root that `GANTRY_SHM_DIR` names (`/dev/shm` if unset); `None` if the domain does not
/// exist.
///
/// # Errors
/// The domain's directory cannot be trusted or read. An error of a single file is a problem in the report.
pub fn inspect(domain_id: u32) -> Result<Option<DomainReport>> {
    inspect_under(&shared_memory_directory(), domain_id)
}

/// Inspects a domain under `root`; `None` if the domain does not exist.
///
/// # Errors
/// The errors of [`inspect`].
pub fn inspect_under(root: &Path, domain_id: u32) -> Result<Option<DomainReport>> {
    Inspector::under(root, domain_id).inspect()
}

impl Participant {
    /// Inspects this participant's domain. Unlike [`inspect`], this method also reports known processes whose files
    /// were removed.
    ///
    /// # Errors
    /// The directory cannot be read; a process cannot be mapped; the process forked.
    pub fn inspect(&self) -> Result<DomainReport> {
        self.domain.epoch.check()?;
        let (peers, mut publishers) = (self.domain.peers()?, MappedPublishers::default());
        let (directory, board) = (&self.domain.directory, Some(&self.domain.board));
        Inspection::new(directory, board, &peers, &mut publishers, Vec::new()).report()
    }
}

/// Inspects a domain repeatedly, for example for a live view. It keeps the files of processes and publishers mapped, so
/// that the next inspection only reads changes.
pub struct Inspector {
    root: PathBuf,
    domain_id: u32,
    /// The mapped processes, by the names of their files; no two files ever have the same name.
    peers: BTreeMap<String, Arc<Peer>>,
    publishers: MappedPublishers,
}

impl Inspector {
    /// Makes an inspector of a domain under the root that `GANTRY_SHM_DIR` names (`/dev/shm` if unset).
    #[must_use]
    pub fn new(domain_id: u32) -> Inspector {
        Inspector::under(&shared_memory_directory(), domain_id)
    }

    /// Makes an inspector of a domain under `root`.
    #[must_use]
    pub fn under(root: &Path, domain_id: u32) -> Inspector {
        let (peers, publishers) = (BTreeMap::new(), MappedPublishers::default());
        Inspector { root: root.to_owned(), domain_id, peers, publishers }
    }

    /// Inspects the domain like [`fn@inspect`].
    ///
    /// # Errors
    /// The errors of [`fn@inspect`].
    pub fn inspect(&mut self) -> Result<Option<DomainReport>> {
        let user_directory = present(Directory::existing_of_user(&self.root))?;
        let existing = |user: Directory| present(user.existing(&self.domain_id.to_string()));
        let Some(directory) = user_directory.map(existing).transpose()?.flatten() else {
            // The last process has removed the domain. The mappings are dropped, because the kernel frees the domain's
            // memory only when no process maps it.
            *self = Inspector::under(&self.root, self.domain_id);
            return Ok(None);
        };
        let mut problems = Vec::new();
        let board = usable(Board::open(&directory, false), &mut problems);
        let mut known = std::mem::take(&mut self.peers);
        for name in directory.files()?.into_iter().filter(|name| name.ends_with(PROCESS_SUFFIX)) {
            let opened = || usable(Peer::open(&directory, &name), &mut problems).map(Arc::new);
            if let Some(peer) = known.remove(&name).or_else(opened) {
                self.peers.insert(name, peer);
            }
        }
        let peers: Vec<_> = self.peers.values().cloned().collect();
        Inspection::new(&directory, board.as_ref(), &peers, &mut self.publishers, problems).report().map(Some)
    }
}

/// A domain under inspection, and the problems that were found so far.
struct Inspection<'a> {
    directory: &'a Directory,
    board: Option<&'a Board>,
    peers: &'a [Arc<Peer>],
    alive: Vec<Arc<Peer>>,
    publishers: &'a mut MappedPublishers,
    leftovers: Vec<String>,
    problems: Vec<String>,
}

impl<'a> Inspection<'a> {
    fn new(
        directory: &'a Directory,
        board: Option<&'a Board>,
        peers: &'a [Arc<Peer>],
        publishers: &'a mut MappedPublishers,
        problems: Vec<String>,
    ) -> Inspection<'a> {
        // The processes are probed once for all publishers, because each probe is a system call.
        let alive = peers.iter().filter(|peer| peer.is_alive()).cloned().collect();
        Inspection { directory, board, peers, alive, publishers, leftovers: Vec::new(), problems }
    }

    fn report(mut self) -> Result<DomainReport> {
        let files = self.directory.files()?;
        let used_bytes = files.iter().map(|name| self.directory.used_bytes(name)).sum();
        let processes: Vec<ProcessReport> = self.peers.iter().map(|peer| self.process(peer)).collect();
        self.check_board();
        self.find_leftovers(&files);
        let topics = self.topics(&processes);
        self.publishers.end_inspection();
        let registry_holder = self.board.and_then(Board::holder);
        let topic_lines = self.board.map_or(0, Board::topic_lines);
        let directory = self.directory.path().to_owned();
        let Inspection { leftovers, problems, .. } = self;
        Ok(DomainReport { directory, used_bytes, registry_holder, topic_lines, processes, topics, leftovers, problems })
    }

    fn process(&mut self, peer: &Arc<Peer>) -> ProcessReport {
        let is_alive = peer.is_alive();
        if is_alive && !peer.has_name() {
            self.problems.push(format!(
                "the file of {peer} was removed while the process runs: processes that start now do not see this \
                 process; restart the process, and find out which program removes files from {}",
                self.directory
            ));
        }
        // The call is made only for its error: no publisher has the key 0.
        if is_alive && let Err(e) = peer.records_of(0) {
            self.problems.push(format!("the reader records of {peer} cannot be read, so no slot is reclaimed: {e}"));
        }
        let endpoints = peer.endpoints(None).unwrap_or_else(|error| {
            self.problems.push(error.to_string());
            Vec::new()
        });
        let waiters = self.board.map_or(0, |board| board.waiters_of(waiter_owner(&peer.id)).len());
        let (mut nodes, mut publishers, mut subscriptions) = (Vec::new(), Vec::new(), Vec::new());
        for (endpoint, EndpointCounts { lost_samples, .. }) in endpoints {
            let description = Arc::unwrap_or_clone(endpoint);
            match description.role {
                Role::Node => nodes.push(description.node),
                Role::Publisher => publishers.push(self.publisher(peer, description)),
                Role::Subscription => subscriptions.push(SubscriptionReport { description, lost_samples }),
            }
        }
        ProcessReport { process: peer.to_string(), pid: peer.pid, is_alive, waiters, nodes, publishers, subscriptions }
    }

    fn publisher(&mut self, peer: &Peer, description: EndpointDescription) -> PublisherReport {
        let records = records_of(&self.alive, description.key);
        let file_name = publisher_file_name(&peer.id, description.number);
        let line = self.board.and_then(|board| Some(board.line(board.find(line_hash(&description.topic))?)));
        let generation = line.map_or(0, |line| line.readers_generation.load(Relaxed));
        let directory = self.directory;
        let read = self.publishers.get(directory, &file_name, description.key).and_then(|mapping| {
            let (ring, newest_sequence) = mapping.newest()?;
            let state = PublisherState {
                used_bytes: directory.used_bytes(&file_name),
                newest_sequence,
                recent_sample_bytes: recent_sample_bytes(&ring, newest_sequence),
                granted_depth: mapping.header.granted_depth.load(Relaxed),
                is_blocked: mapping.header.blocked.load(Relaxed) != 0,
                unseen_changes: generation.saturating_sub(mapping.header.seen_generation.load(Relaxed)),
            };
            Ok((state, holders(&records, |sequence| ring.length_bytes_of(sequence).unwrap_or(0))))
        });
        let (state, holders) = match read {
            Ok((state, holders)) => (Some(state), holders),
            // This is no problem: the publisher may come later, or another process may just be removing the files of a
            // dead process one after the other.
            Err(_) if description.key == NO_PUBLISHER || !peer.is_alive() => (None, holders(&records, |_| 0)),
            Err(e) => {
                self.problems.push(match e.is_not_found() {
                    true => format!(
                        "{peer} has a publisher of {} whose file {file_name} does not exist: new subscriptions cannot \
                         match the publisher; restart the process",
                        description.topic
                    ),
                    false => e.to_string(),
                });
                (None, holders(&records, |_| 0))
            }
        };
        PublisherReport { description, state, readers: readers(&records), holders }
    }

    fn check_board(&mut self) {
        let Some(board) = self.board else {
            if !self.peers.is_empty() {
                let sentence = "the running processes go on, and no process can join the domain; restart all its \
                                processes";
                self.problems.push(format!("there is no board in {}: {sentence}", self.directory));
            }
            return;
        };
        if !board.has_name() {
            self.problems.push(format!(
                "the board of {} was removed: no process can join the domain; restart all its processes",
                self.directory
            ));
        }
        let strangers = self.peers.iter().filter(|peer| peer.is_alive() && peer.board_id != board.id());
        let sentence = |peer: &Arc<Peer>| {
            format!(
                "{peer} uses another board than the domain has now, so its endpoints do not match endpoints of \
                 processes that use the present board; restart the process"
            )
        };
        self.problems.extend(strangers.map(sentence));
        if board.waiters_of(0).is_empty() {
            let sentence = "all waiter lines of the board are in use: new wait sets and executors share one line, so \
                            that each of them is also woken by news for the others; use fewer wait sets and executors";
            self.problems.push(sentence.to_owned());
        }
    }

    /// Finds the files of dead processes, and the files of publishers whose process is gone.
    fn find_leftovers(&mut self, files: &[String]) {
        let used_bytes = |is_its: &dyn Fn(&str) -> bool| -> u64 {
            files.iter().filter(|name| is_its(name)).map(|name| self.directory.used_bytes(name)).sum()
        };
        let cure = "the next process that joins any domain removes them";
        for peer in self.peers.iter().filter(|peer| !peer.is_alive()) {
            let id = process_id(&peer.file_name);
            let bytes = used_bytes(&|name| owner_id(name) == id);
            self.leftovers.push(format!("{peer} ended and left files of {bytes} bytes; {cure}"));
        }
        let owners: Vec<&str> = self.peers.iter().map(|peer| process_id(&peer.file_name)).collect();
        let is_ownerless = |name: &str| name.ends_with(PUBLISHER_SUFFIX) && !owners.contains(&owner_id(name));
        for name in files.iter().filter(|name| is_ownerless(name)) {
            let bytes = used_bytes(&|other| other == name);
            self.leftovers.push(format!("no process owns {name} of {bytes} bytes; {cure}"));
        }
    }

    /// The topics of all endpoints, each with the processes that sleep until the topic has news.
    fn topics(&self, processes: &[ProcessReport]) -> BTreeMap<String, Vec<String>> {
        let publishers =
            processes.iter().flat_map(|process| &process.publishers).map(|publisher| &publisher.description);
        let subscriptions = processes.iter().flat_map(|process| &process.subscriptions);
        let subscriptions = subscriptions.map(|subscription| &subscription.description);
        let names = publishers.chain(subscriptions).map(|endpoint| &endpoint.topic);
        names.map(|name| (name.clone(), self.sleepers(name))).collect()
    }

    /// The processes that sleep on a topic.
    fn sleepers(&self, topic: &str) -> Vec<String> {
        let owners = self.board.map_or(Vec::new(), |board| board.sleepers(line_hash(topic)));
        let owner = |id: u64| self.peers.iter().find(|peer| waiter_owner(&peer.id) == id);
        let name = |id| match id {
            0 => "the waiters of the shared line".to_owned(),
            id => owner(id).map_or("an unknown process, which has no file".to_owned(), ToString::to_string),
        };
        owners.into_iter().map(name).collect()
    }
}

/// The reports of the subscriptions to which these reader records belong.
fn readers(records: &[PeerRecord]) -> Vec<ReaderReport> {
    let report = |(record, peer): &PeerRecord| {
        let state = record.state.load(Relaxed);
        matches!(state, READER_ACTIVE | READER_GATING).then(|| ReaderReport {
            process: peer.to_string(),
            next_sequence: record.cursor.load(Relaxed),
            depth: record.depth.load(Relaxed),
            is_gating: state == READER_GATING,
        })
    };
    records.iter().filter_map(report).collect()
}

/// The value of the result, or `None` if the file does not exist.
fn present<T>(found: Result<T>) -> Result<Option<T>> {
    match found {
        Err(error) if error.is_not_found() => Ok(None),
        found => found.map(Some),
    }
}

/// Returns the result of `present`. After an error, adds the error to `problems` and returns `None`.
fn usable<T>(found: Result<T>, problems: &mut Vec<String>) -> Option<T> {
    present(found).unwrap_or_else(|error| {
        problems.push(error.to_string());
        None
    })
}
