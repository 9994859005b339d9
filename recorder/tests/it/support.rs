//! Support for the tests: runs of the program, numbered messages, and the files that the program writes.

use gantry::{GenericPublisher, Node, Qos, TypeDescription};
use mcap::MessageStream;
use rustix::process::{Signal, kill_process};
use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc::Receiver,
    time::Instant,
};
use tempfile::TempDir;
pub use test_support::{PATIENCE, Peer, eventually, tests};

/// The number of bytes of a message besides its data: the number, the checksum and the length of the data.
pub const LEAST_BYTES: usize = 20;

/// Makes a folder beside the built programs, and not in the folder for temporary files. There is a disk in most cases,
/// so that chunks are written past the page cache.
pub fn directory() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// The result of a run of the program.
pub struct Run {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

pub fn command(domain_id: u32, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gantry-bag"));
    command.args(arguments).args(["--domain-id", &domain_id.to_string()]);
    command
}

/// Runs the program until it ends.
#[track_caller]
pub fn run(command: &mut Command) -> Run {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// A program that is still running. It is killed when this value is dropped.
pub struct Running {
    pub peer: Peer,
    errors: Receiver<String>,
}

/// Starts the program, so that the test can read its lines while it runs.
pub fn start(command: &mut Command) -> Running {
    Running::new(Peer::start(command.stderr(Stdio::piped())))
}

/// Starts the program like [`start`], with `stdin` as its standard input.
pub fn start_with(command: &mut Command, stdin: impl Into<Stdio>) -> Running {
    Running::new(Peer::start_with(command.stderr(Stdio::piped()), stdin.into()))
}

impl Running {
    fn new(mut peer: Peer) -> Running {
        let stderr = BufReader::new(peer.child.stderr.take().unwrap());
        let (sender, errors) = std::sync::mpsc::channel();
        std::thread::spawn(move || stderr.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Running { peer, errors }
    }

    /// Waits for the next line on standard error that contains `part`.
    #[track_caller]
    pub fn error_with(&mut self, part: &str) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = self.errors.recv_timeout(left).unwrap_or_else(|_| panic!("no line with {part:?}"));
            if line.contains(part) {
                return line;
            }
        }
    }

    /// Sends SIGINT and expects a clean exit. Returns the last line of standard output, and the remaining lines of
    /// standard error.
    #[track_caller]
    pub fn interrupt(self) -> (String, String) {
        kill_process(self.peer.pid(), Signal::INT).unwrap();
        let last = self.peer.last_line();
        (last, self.errors.iter().map(|line| line + "\n").collect())
    }
}

pub fn node_in(domain_id: u32, name: &str) -> Node {
    Node::builder(name).domain_id(domain_id).build().unwrap()
}

/// The type of numbered messages.
pub fn numbered() -> TypeDescription {
    TypeDescription {
        name: "recorder_test/msg/Numbered".into(),
        definition: "uint64 number\nuint64 checksum\nuint8[] data\n".into(),
        payload_bytes: usize::MAX,
        ..TypeDescription::default()
    }
}

/// A publisher of numbered messages.
pub struct Talker {
    pub publisher: GenericPublisher,
    pub next: u64,
}

impl Talker {
    pub fn new(node: &Node, topic: &str, qos: Qos) -> Talker {
        Talker { publisher: node.create_generic_publisher(topic, numbered(), qos).unwrap(), next: 0 }
    }

    /// Waits until the recorder matches this publisher.
    pub fn wait(&mut self) {
        assert!(self.publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
    }

    /// Publishes the next message, with a total length of `length_bytes` bytes.
    pub fn publish(&mut self, length_bytes: usize) {
        let mut loan = self.publisher.loan(length_bytes).unwrap();
        fill(loan.bytes_mut(), self.next);
        self.publisher.publish(loan).unwrap();
        self.next += 1;
    }
}

/// The body of the message with the number `number`.
pub fn message(number: u64, length_bytes: usize) -> Vec<u8> {
    let mut bytes = vec![0; length_bytes];
    fill(&mut bytes, number);
    bytes
}

fn fill(bytes: &mut [u8], number: u64) {
    let data_bytes = (bytes.len() - LEAST_BYTES) as u32;
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    bytes[16..20].copy_from_slice(&data_bytes.to_le_bytes());
    let mut state = number;
    for word in bytes[LEAST_BYTES..].chunks_mut(8) {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let length = word.len();
        word.copy_from_slice(&state.to_be_bytes()[..length]);
    }
    let checksum = checksum(&bytes[16..]);
    bytes[8..16].copy_from_slice(&checksum.to_le_bytes());
}

fn checksum(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(14_695_981_039_346_656_037, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(1_099_511_628_211))
}

/// The number of a message in a file, with its encapsulation header. Panics if the message's checksum is wrong.
#[track_caller]
pub fn number(data: &[u8]) -> u64 {
    body_number(data.strip_prefix(&gantry::ENCAPSULATION).unwrap())
}

/// The number of a message without its encapsulation header. Panics if the message's checksum is wrong.
#[track_caller]
pub fn body_number(body: &[u8]) -> u64 {
    let of = |at: usize| u64::from_le_bytes(body[at..at + 8].try_into().unwrap());
    assert_eq!(of(8), checksum(&body[16..]), "message {}", of(0));
    of(0)
}

/// The numbers of the messages in a file by topic, in the order of the file. The file is read with the `mcap` crate.
#[track_caller]
pub fn numbers(path: &Path) -> BTreeMap<String, Vec<u64>> {
    let bytes = std::fs::read(path).unwrap();
    let mut numbers: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for message in MessageStream::new(&bytes).unwrap() {
        let message = message.unwrap();
        numbers.entry(message.channel.topic.clone()).or_default().push(number(&message.data));
    }
    numbers
}

/// The files of a bag, in order.
pub fn files(bag: &Path) -> Vec<PathBuf> {
    let name = bag.file_name().unwrap().to_str().unwrap();
    (0..).map(|number| bag.join(format!("{name}_{number}.mcap"))).take_while(|path| path.exists()).collect()
}

/// A path as the argument of a command.
pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
