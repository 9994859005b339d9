//! The fuzz targets of the engine: every kind of file that it maps, with bytes that the fuzzer chooses. The programs in
//! `fuzz/` run the targets, and `cargo test` runs each of them for a short time.
//!
//! There is one function for each kind of file. The function makes files with the real code, damages meaningful words
//! (`word_offsets`) according to the input (`input`), and then uses the files as the engine does. Success and the
//! errors `Corrupt` and `Incompatible` are allowed; on any other error, the function panics. A read beyond a file's end
//! ends the process by SIGBUS. The fuzzer notices unbounded work and memory.

#![expect(clippy::unwrap_used, reason = "a fuzz target reports by panicking")]

#[cfg(test)]
mod corpus;
mod input;
mod scribble;
mod word_offsets;

use crate::{
    Qos,
    describe::{
        description::{EndpointDescription, Role},
        type_description::TypeDescription,
    },
    domain::{
        Domain,
        board::Board,
        endpoints::Selection,
        participant::Participant,
        peer::Peer,
        process_file::{EndpointBlock, file_name, publisher_file_name},
        reaper,
        registry::REGISTRY_PATIENCE,
    },
    error::{Error, Result},
    observe::inspect::inspect_under,
    os::{
        directory::{BOARD_NAME, DIRECTORY_VARIABLE, Directory},
        lock,
    },
    protocol::{
        history::History,
        layout::*,
        roster::Roster,
        sleep::Side,
        sync::{Site, full_fence},
    },
    publish::{
        options::PublisherOptions,
        publisher::{Publisher, SourceTime},
    },
    subscribe::{
        connection::{Losses, PendingConnection},
        owned_record::places::{PlaceMemory, Places},
        subscription::Subscription,
    },
};
use input::{Damaged, Input};
use std::{
    mem::offset_of,
    path::{Path, PathBuf},
    sync::Arc,
};

pub use scribble::scribble;

/// The topic of all endpoints.
const TOPIC: &str = "/fuzzed";
/// The id of an invented process: it has a file, but does not run.
const STRANGER: [u8; 16] = [0x5a; 16];

/// The set-up of the fuzz targets: bytes of files that the real code has made, and a domain for damaged files.
pub struct Stage {
    root: tempfile::TempDir,
    domain: Arc<Domain>,
    board: Vec<u8>,
    process: Vec<u8>,
    publisher: Vec<u8>,
    /// The description of the publisher's endpoint.
    description: EndpointDescription,
    /// The block of a subscription to another topic. It counts the losses of takes.
    reader: EndpointBlock,
}

/// Creates a directory under `GANTRY_SHM_DIR` (or `/dev/shm`), which is removed when the result is dropped.
fn new_root() -> tempfile::TempDir {
    let under = std::env::var_os(DIRECTORY_VARIABLE).map_or("/dev/shm".into(), PathBuf::from);
    tempfile::Builder::new().prefix("gantry-fuzz-").tempdir_in(under).unwrap()
}

fn bytes_type(payload_bytes: usize) -> TypeDescription {
    let (name, definition) = ("test_msgs/msg/Bytes".to_owned(), "byte[] data".into());
    TypeDescription { name, hash: [7; 32], definition, payload_bytes }
}

/// Asserts that damaged bytes may cause this error.
fn assert_refused(error: &Error) {
    assert!(matches!(error, Error::Corrupt { .. } | Error::Incompatible { .. }), "{error:?}");
}

fn believed<T>(result: Result<T>) -> Option<T> {
    result.inspect_err(assert_refused).ok()
}

impl Stage {
    /// Makes the files.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "it makes files, which a default should not")]
    pub fn new() -> Stage {
        let root = new_root();
        let (board, process, publisher, description) = {
            let participant = Participant::join_under(root.path(), 1).unwrap();
            let directory = participant.domain.directory.path().to_owned();
            // Messages of both kinds: inline (in ring entries) and in slots.
            let (max_memory_bytes, max_inline_bytes) = (Some(64 << 10), 64);
            let options = PublisherOptions { max_memory_bytes, max_inline_bytes, ..PublisherOptions::default() };
            let (qos, message) = (Qos::default().keep_last(8), bytes_type(256));
            let mut publisher =
                Publisher::new(participant.clone(), "/talker", TOPIC, message.clone(), qos, options).unwrap();
            let mut subscription = Subscription::new(participant.clone(), "/listener", TOPIC, message, qos).unwrap();
            publisher.subscription_count().unwrap();
            for length_bytes in 0..30 {
                let loan = publisher.loan(8 * length_bytes).unwrap();
                publisher.publish(loan, SourceTime::now()).unwrap();
            }
            let _held = [subscription.take().unwrap(), subscription.take().unwrap()];
            let own = participant.domain.process.publisher_file_name(publisher.description().number);
            let mut process = std::fs::read(directory.join(participant.domain.process.file_name())).unwrap();
            let id = offset_of!(ProcessHeader, id);
            process[id..id + 16].copy_from_slice(&STRANGER);
            let board = std::fs::read(directory.join(BOARD_NAME)).unwrap();
            (board, process, std::fs::read(directory.join(own)).unwrap(), publisher.description().as_ref().clone())
        };
        let domain = Arc::new(Domain::join(root.path(), 2).unwrap());
        let topic = "/other".to_owned();
        let reader = EndpointDescription { role: Role::Subscription, topic, ..description.clone() };
        let reader = domain.process.add_endpoint(&domain.directory, &reader).unwrap();
        let mut stage = Stage { root, domain, board, process, publisher, description, reader };
        // The file of the invented process must name the board of this domain.
        let id = offset_of!(ProcessHeader, board_id);
        stage.process[id..id + 8].copy_from_slice(&stage.domain.board.id().to_le_bytes());
        stage
    }

    fn path(&self, name: &str) -> PathBuf {
        self.domain.directory.path().join(name)
    }

    /// Fuzzes the description of an endpoint: raw bytes, or a real description with damage.
    pub fn description(&self, bytes: &[u8]) {
        let mut input = Input(bytes);
        let raw = match input.byte() {
            0 => input.0.to_vec(),
            _ => {
                let path = self.path("description");
                let file = Damaged::create(&path, &self.description.to_bytes(), word_offsets::description);
                file.damage(&mut input);
                std::fs::remove_file(path).unwrap();
                file.bytes()
            }
        };
        if let Some(found) = believed(EndpointDescription::from_bytes(&raw, "fuzzed")) {
            assert_eq!(EndpointDescription::from_bytes(&found.to_bytes(), "fuzzed").unwrap(), found);
            let _ = (found.mismatch(&self.description), self.description.mismatch(&found));
        }
    }

    /// Fuzzes the board of a domain.
    pub fn board(&self, bytes: &[u8]) {
        let mut input = Input(bytes);
        let directory = self.domain.directory.make("board-of-others").unwrap();
        let file = Damaged::create(&directory.path().join(BOARD_NAME), &self.board, word_offsets::board);
        file.damage(&mut input);
        match believed(Board::open(&directory, true)) {
            Some(board) => {
                let _flipper = (input.byte() & 1 == 1).then(|| file.flip(&mut input));
                use_board(&board, &directory, &mut input);
            }
            // The damaged file is refused. No process uses it, so it is removed.
            None => assert!(Board::open_or_create(&directory, REGISTRY_PATIENCE).unwrap().is_none()),
        }
        directory.unlink(BOARD_NAME).unwrap();
    }

    /// Fuzzes the file of a process that is alive or dead: reads the file as publishers and subscriptions do, then
    /// cleans up after the process (reaps it).
    pub fn process(&self, bytes: &[u8]) {
        let mut input = Input(bytes);
        let choice = input.byte();
        let name = match choice & 6 {
            2 => format!("{}.process", String::from_utf8_lossy(&[input.byte() % 64 + b'A'; 4][..input.below(5)])),
            _ => file_name(&STRANGER),
        };
        let own = self.path(&publisher_file_name(self.domain.process.id(), 1));
        std::fs::write(&own, "").unwrap();
        let file = Damaged::create(&self.path(&name), &self.process, word_offsets::process);
        file.damage(&mut input);
        let lives = choice & 1 == 1 && lock::try_lock(file.file(), 0).unwrap();
        let flipper = (choice & 8 != 0).then(|| file.flip(&mut input));
        self.domain.board.processes_changed();
        if let Some(peer) = believed(Peer::open(&self.domain.directory, &name)) {
            self.use_peer(&Arc::new(peer), lives, &file, &mut input);
        }
        let _ = self.domain.peers().map(drop).map_err(|error| assert_refused(&error));
        if choice & 16 != 0 {
            assert!(inspect_under(self.root.path(), self.domain.domain_id).unwrap().is_some());
        }
        drop((flipper, file)); // releases the file's lock: now the process counts as dead
        let registry = self.domain.board.lock(&self.domain.directory, REGISTRY_PATIENCE).unwrap();
        assert_eq!(reaper::reap(&registry).unwrap(), 1, "all but us");
        assert!(!self.path(&name).exists(), "a dead process's file stayed");
        assert!(own.exists(), "a living process's file went");
    }

    fn use_peer(&self, peer: &Arc<Peer>, lives: bool, file: &Damaged, input: &mut Input<'_>) {
        assert_eq!(peer.is_alive(), lives);
        loop {
            let keys = [Selection::All, Selection::Topic(TOPIC), Selection::Node("/node")][input.below(3)].keys();
            for (endpoint, _) in believed(peer.endpoints(keys.as_deref())).unwrap_or_default() {
                let _ = endpoint.mismatch(&self.description);
            }
            if let Some(records) = believed(peer.records_of([self.description.key, 0][input.below(2)])) {
                let roster = Roster::new(self.description.key, 1, records);
                let _ = (roster.count(), roster.deepest(), roster.slowest_cursor(), roster.gating_sequence());
                let mut history = History::new();
                roster.look_at_pins(|sequence| history.keep_pinned(sequence));
                history.reclaim_unpinned();
            }
            if input.is_empty() {
                return;
            }
            file.poke(input);
        }
    }

    /// Fuzzes a publisher's file, from which a subscription takes.
    pub fn publisher(&self, bytes: &[u8]) {
        let mut input = Input(bytes);
        let choice = input.byte();
        let name = publisher_file_name(&STRANGER, 1);
        let file = Damaged::create(&self.path(&name), &self.publisher, word_offsets::publisher);
        file.damage(&mut input);
        let flipper = (choice & 8 != 0).then(|| file.flip(&mut input));
        let qos = Qos::default().keep_last([1, 3, 100, crate::MAX_DEPTH][usize::from(choice) & 3]);
        let qos = if choice & 4 == 0 { qos } else { qos.transient_local() };
        let qos = if choice & 16 == 0 { qos } else { qos.keep_all() };
        let mut description = self.description.clone();
        description.number = 1;
        description.qos = Qos { depth: input.byte().into(), ..qos };
        let memory = Arc::new(PlaceMemory::new(self.domain.clone()));
        let joining = PendingConnection::new((&memory, self.reader), &STRANGER, &description, &qos, true);
        let mut losses = Losses::default();
        if let Some(mut connection) = believed(joining.and_then(|joining| joining.join(1, &mut losses))) {
            let mut held = Vec::new();
            let mut places = Places::new(memory, Arc::new(description));
            places.prepare(1, connection.mapping.inline_bytes());
            for _ in 0..bytes.len() + 4 {
                match input.byte() % 8 {
                    0..=3 => held
                        .extend(believed(connection.take(&mut places, &mut losses).map_err(|error| *error)).flatten()),
                    4 => drop((!held.is_empty()).then(|| held.swap_remove(input.below(held.len())))),
                    5 => _ = believed(connection.next_time(&places, &mut losses).map_err(|error| *error)),
                    6 => file.poke(&mut input),
                    _ => connection.mapping.region.prefault_new(&self.domain.directory),
                }
                let _ = (connection.has_news(), connection.received());
            }
            connection.skip_all(&mut losses);
            // A mapping can be read to the end of the file's last page.
            let (base, length_bytes) = (
                connection.mapping.hint(0, 0).unwrap() as usize - PAYLOAD_OFFSET,
                file.length_bytes().next_multiple_of(PAGE_BYTES),
            );
            for sample in &held {
                let start = sample.bytes().as_ptr() as usize;
                assert!(
                    sample.is_inline() || base < start && start + sample.bytes().len() <= base + length_bytes,
                    "{start:x} {} {base:x} {length_bytes}",
                    sample.bytes().len()
                );
                let sum = sample.bytes().iter().take(1 << 16).fold(0u8, |sum, byte| sum.wrapping_add(*byte));
                std::hint::black_box((sum, sample.info()));
            }
        }
        drop(flipper);
        self.domain.directory.unlink(&name).unwrap();
    }
}

/// Uses a board like processes that join, sleep, publish and reap.
fn use_board(board: &Board, directory: &Directory, input: &mut Input<'_>) {
    let hash = [line_hash(TOPIC), 0, u64::MAX, 4095][input.below(4)];
    let waiter = board.take_waiter(7);
    let topic = board.hold(hash, Side::Readers, waiter, |_| false);
    let _ = (board.id(), board.processes_generation());
    board.processes_changed();
    board.topic_changed(topic, Side::Publishers);
    board.topic_changed(topic, Side::Readers);
    board.file_has_grown(topic);
    board.wake(topic, full_fence(Site::NewsFence));
    let _ = (board.holder(), board.waiters_of(0), board.sleepers(line_hash(TOPIC)), board.topic_lines());
    let registry = board.lock(directory, REGISTRY_PATIENCE).unwrap();
    board.bell(waiter).ring();
    board.release(topic, waiter);
    board.free_waiter(waiter, 7);
    registry.free_waiters_of(7);
}

/// Returns another path to `root` for each number, so that one process has several participants.
fn alias_of(root: &Path, number: usize) -> PathBuf {
    let back = Path::new("..").join(root.file_name().unwrap());
    (0..number).fold(root.to_owned(), |path, _| path.join(&back))
}
