//! Helpers for the tests: separate domains, messages with checksums, child processes.

use gantry_shm::{
    Error, Participant, Publisher, PublisherOptions, Qos, Sample, SourceTime, Subscription, TypeDescription,
};
use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};
pub use test_support::{PATIENCE, Peer, eventually, ignore, tests, this_program};

/// A directory in shared memory that is removed at the end of the test.
pub struct Root(tempfile::TempDir);

impl Root {
    pub fn new() -> Root {
        Root(tempfile::Builder::new().prefix("gantry-test-").tempdir_in("/dev/shm").unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn join(&self) -> Arc<Participant> {
        Participant::join_under(self.path(), 0).unwrap()
    }

    /// All files and directories under the root.
    pub fn files(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut to_visit = vec![self.path().to_owned()];
        while let Some(directory) = to_visit.pop() {
            for entry in std::fs::read_dir(directory).unwrap().map(Result::unwrap) {
                if entry.file_type().unwrap().is_dir() {
                    to_visit.push(entry.path());
                }
                found.push(entry.path());
            }
        }
        found
    }

    pub fn assert_empty(&self) {
        assert_eq!(self.files(), Vec::<PathBuf>::new(), "files stayed in shared memory");
    }

    /// Starts this program in a role.
    pub fn child(&self, role: &str, arguments: &[&str]) -> Peer {
        let program = this_program();
        let mut command = Command::new(&program[0]);
        command.args(&program[1..]);
        self.child_by(command, role, arguments)
    }

    /// Starts this program in a role, as an argument of `command`, such as a shell.
    pub fn child_by(&self, mut command: Command, role: &str, arguments: &[&str]) -> Peer {
        Peer::start(command.args(["--child", role, self.path().to_str().unwrap()]).args(arguments))
    }
}

pub fn bytes_type(payload_bytes: usize) -> TypeDescription {
    TypeDescription {
        name: "test_msgs/msg/Bytes".into(),
        hash: [0; 32],
        definition: format!("byte[{payload_bytes}] data").into(),
        payload_bytes,
    }
}

pub fn publisher(participant: &Arc<Participant>, payload_bytes: usize, qos: Qos) -> Publisher {
    publisher_with(participant, payload_bytes, qos, PublisherOptions::default())
}

pub fn publisher_with(
    participant: &Arc<Participant>,
    payload_bytes: usize,
    qos: Qos,
    options: PublisherOptions,
) -> Publisher {
    Publisher::new(participant.clone(), "/talker", "/chatter", bytes_type(payload_bytes), qos, options).unwrap()
}

pub fn subscription(participant: &Arc<Participant>, payload_bytes: usize, qos: Qos) -> Subscription {
    Subscription::new(participant.clone(), "/listener", "/chatter", bytes_type(payload_bytes), qos).unwrap()
}

/// Matches the two endpoints, so that no sample is lost before the match.
pub fn match_up(publisher: &mut Publisher, subscription: &mut Subscription) {
    subscription.publisher_count().unwrap();
    publisher.subscription_count().unwrap();
}

/// Fills all bytes with values computed from `number`, and a checksum at the end.
pub fn fill(bytes: &mut [u8], number: u64) {
    let (words, _) = bytes.as_chunks_mut::<8>();
    let (last, body) = words.split_last_mut().unwrap();
    let mut sum = number;
    for (index, word) in body.iter_mut().enumerate() {
        let value = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(index as u64);
        *word = if index == 0 { number } else { value }.to_le_bytes();
        sum = sum.rotate_left(5) ^ u64::from_le_bytes(*word);
    }
    *last = sum.to_le_bytes();
}

/// Returns the number that [`fill`] wrote. Panics if a byte has changed.
pub fn check(bytes: &[u8]) -> u64 {
    number_of(bytes).unwrap_or_else(|number| panic!("message {number} is corrupt"))
}

/// Returns the number that [`fill`] wrote; as an error if a byte has changed.
pub fn number_of(bytes: &[u8]) -> Result<u64, u64> {
    let (words, _) = bytes.as_chunks::<8>();
    let (last, body) = words.split_last().unwrap();
    let number = u64::from_le_bytes(body[0]);
    let sum = body.iter().fold(number, |sum, word| sum.rotate_left(5) ^ u64::from_le_bytes(*word));
    if sum == u64::from_le_bytes(*last) { Ok(number) } else { Err(number) }
}

/// Fills a message of any length: each byte depends on its offset and on `number`.
pub fn fill_any(bytes: &mut [u8], number: u64) {
    let (words, rest) = bytes.as_chunks_mut::<8>();
    words.iter_mut().enumerate().for_each(|(index, word)| *word = any_word(index, number));
    let last = any_word(words.len(), number);
    rest.copy_from_slice(&last[..rest.len()]);
}

/// Panics if a byte differs from the value that [`fill_any`] wrote.
pub fn check_any(bytes: &[u8], number: u64) {
    let (words, rest) = bytes.as_chunks::<8>();
    let wrong = words.iter().enumerate().position(|(index, word)| *word != any_word(index, number));
    assert_eq!(wrong, None, "word of message {number}, {} bytes", bytes.len());
    assert_eq!(rest, &any_word(words.len(), number)[..rest.len()], "the end of message {number}");
}

fn any_word(index: usize, number: u64) -> [u8; 8] {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(index as u64).to_le_bytes()
}

/// Publishes message `number`. Returns its sequence number.
pub fn send(publisher: &mut Publisher, bytes: usize, number: u64) -> u64 {
    let mut loan = publisher.loan(bytes).unwrap();
    fill(loan.bytes_mut(), number);
    publisher.publish(loan, SourceTime::now()).unwrap()
}

/// Publishes message `number`. Returns false if readers block the publisher for too long.
pub fn try_send(publisher: &mut Publisher, bytes: usize, number: u64) -> bool {
    let mut loan = publisher.loan(bytes).unwrap();
    fill(loan.bytes_mut(), number);
    match publisher.publish(loan, SourceTime::now()) {
        Ok(_) => true,
        Err(unpublished) if matches!(*unpublished.error, Error::PublishTimeout { .. }) => false,
        Err(unpublished) => panic!("{unpublished}"),
    }
}

/// Takes and checks all available samples. Returns their numbers.
pub fn drain(subscription: &mut Subscription) -> Vec<u64> {
    std::iter::from_fn(|| subscription.take().unwrap()).map(|sample| check(sample.bytes())).collect()
}

/// Waits for the next sample and takes it.
pub fn receive(subscription: &mut Subscription) -> Sample {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(sample) = subscription.take().unwrap() {
            return sample;
        }
        assert!(Instant::now() < deadline, "no sample came");
        subscription.wait(Duration::from_secs(1)).unwrap();
    }
}

/// The offset of a field in a structure of shared memory, read from the printed layout.
pub fn offset_of(structure: &str, field: &str) -> usize {
    let (layout, title, field) = (gantry_shm::describe_layout(), format!("{structure}:"), format!(" {field}:"));
    let mut lines = layout.lines().skip_while(|line| !line.starts_with(&title));
    let line = lines.find(|line| line.contains(&field)).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

/// A random generator. Its seed is printed, and the environment variable `SEED` can set it.
pub struct Random(fastrand::Rng);

impl Random {
    pub fn new() -> Random {
        let seed = std::env::var("SEED").map_or_else(|_| fastrand::u64(..), |seed| seed.parse().unwrap());
        eprintln!("SEED={seed}");
        Random(fastrand::Rng::with_seed(seed))
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.0.u64(..end)
    }
}
