//! Tests of random loans. They are taken, changed and returned in any order, while publishers and subscriptions are
//! created and destroyed.
//!
//! `SEED` in the environment sets the seed, and `LOANED_MESSAGES` the number of messages.

use crate::ros::*;
use fastrand::Rng;
use rmw_abi::bindings::*;
use std::{
    ffi::c_void,
    fs::read_dir,
    mem::{replace, zeroed},
    process::Command,
    ptr::null_mut,
};
use test_support::{say, tests};

tests![random_loans_stay_right_and_leave_nothing, random_changes_of_loans_end_in_sentences];

/// The first argument of the child. The others are the seed, the number of messages, and the number of returned
/// messages, out of a thousand, that are changed against the rules.
pub const GO_ON: &str = "--random-loans";

const QOS: rmw_qos_profile_t = rmw_qos_profile_t { depth: 20, ..DEFAULT_QOS };
/// The least size of a sequence that lies in shared memory.
const LONG_BYTES: usize = 4096;
const MAX_HELD: usize = 12;

struct Reader {
    subscription: *mut rmw_subscription_t,
    held: Vec<*mut Blocks>,
    /// The messages that were returned. Their addresses stay valid as long as the subscription exists.
    returned: Vec<*mut Blocks>,
}

struct World {
    ros: Ros,
    random: Rng,
    publisher: *mut rmw_publisher_t,
    readers: [Reader; 3],
    misuse_per_mille: u32,
    sent: u64,
    taken: u64,
    changed: u64,
}

/// Returns the elements of a sequence in a C message.
fn elements<T>(sequence: &Elements<T>) -> &[T] {
    if sequence.size == 0 {
        return &[];
    }
    // SAFETY: the sequence belongs to a message that the test holds on loan.
    unsafe { std::slice::from_raw_parts(sequence.data, sequence.size) }
}

fn sum(number: u64, bytes: &[u8], ranges: &[f64]) -> u64 {
    let start = number.wrapping_mul(31).wrapping_add(bytes.len() as u64);
    let (words, rest) = bytes.as_chunks::<8>();
    let sum = words.iter().fold(start, |sum, word| sum.rotate_left(1) ^ u64::from_le_bytes(*word));
    let sum = rest.iter().fold(sum, |sum, byte| sum.rotate_left(1) ^ u64::from(*byte));
    ranges.iter().fold(sum, |sum, range| sum.rotate_left(1) ^ range.to_bits())
}

/// A sequence with memory of `malloc`.
fn malloc_sequence<T>(length: usize) -> Elements<T> {
    // SAFETY: `calloc` accepts any size.
    let data = unsafe { libc::calloc(length.max(1), size_of::<T>()) };
    assert!(!data.is_null());
    Elements { data: data.cast(), size: length, capacity: length }
}

fn is_in_place<T>(sequence: &Elements<T>) -> bool {
    sequence.size * size_of::<T>() >= LONG_BYTES
}

impl World {
    fn new(seed: u64, misuse_per_mille: u32) -> World {
        let ros = Ros::new();
        let publisher = ros.publisher_of(blocks_type(), c"/random", &QOS);
        let readers = [(); 3].map(|()| Reader { subscription: reader(&ros), held: Vec::new(), returned: Vec::new() });
        World { ros, random: Rng::with_seed(seed), publisher, readers, misuse_per_mille, sent: 0, taken: 0, changed: 0 }
    }

    fn size_bytes(&mut self) -> usize {
        match self.random.u32(..1000) {
            0 => 8 << 20,
            1..100 => 0,
            100..400 => self.random.usize(..LONG_BYTES),
            400..500 => self.random.usize(LONG_BYTES - 16..LONG_BYTES + 16),
            _ => self.random.usize(..64 << 10),
        }
    }

    fn publish(&mut self) {
        let mut bytes = vec![0; self.size_bytes()];
        let mut ranges = vec![0.0; self.size_bytes() / 8 / 4];
        bytes.iter_mut().step_by(97).for_each(|byte| *byte = self.random.u8(..));
        ranges.iter_mut().step_by(13).for_each(|range| *range = self.random.f64());
        let number = self.sent;
        let message = Blocks {
            number,
            sum: sum(number, &bytes, &ranges),
            bytes: Elements { data: bytes.as_mut_ptr(), size: bytes.len(), capacity: bytes.len() },
            ranges: Elements { data: ranges.as_mut_ptr(), size: ranges.len(), capacity: ranges.len() },
        };
        // SAFETY: this library made the publisher, and the message has its type.
        assert_eq!(unsafe { rmw_publish(self.publisher, (&raw const message).cast(), null_mut()) }, RMW_RET_OK);
        self.sent += 1;
    }

    fn take(&mut self) {
        let reader = self.random.choice(&mut self.readers).unwrap();
        if reader.held.len() >= MAX_HELD {
            return self.give_back();
        }
        let (mut loan, mut is_taken) = (null_mut::<c_void>(), false);
        // SAFETY: this library made the subscription; the other pointers are outputs.
        let code =
            unsafe { rmw_take_loaned_message(reader.subscription, &raw mut loan, &raw mut is_taken, null_mut()) };
        assert_eq!(code, RMW_RET_OK);
        if is_taken {
            check(loan.cast());
            reader.held.push(loan.cast());
            self.taken += 1;
        }
    }

    /// Returns one message of a random reader. Some messages are changed before.
    fn give_back(&mut self) {
        let (index, other) = (self.random.usize(..3), self.random.usize(..3));
        let reader = &mut self.readers[index];
        if reader.held.is_empty() {
            return;
        }
        let loan = reader.held.swap_remove(self.random.usize(..reader.held.len()));
        check(loan);
        // SAFETY: the test holds this message on loan.
        let blocks = unsafe { &mut *loan };
        let is_changed = if self.random.u32(..1000) < self.misuse_per_mille {
            misuse(&mut self.random, blocks)
        } else {
            change(&mut self.random, blocks)
        };
        self.changed += u64::from(is_changed);
        let give_back = |reader: &Reader| {
            // SAFETY: this library made the subscription. The message is on loan, or the library refuses it.
            unsafe { rmw_return_loaned_message_from_subscription(reader.subscription, loan.cast()) }
        };
        let tries_again = self.random.u32(..100) == 0;
        if tries_again && other != index {
            assert_eq!(give_back(&self.readers[other]), RMW_RET_ERROR, "a loan of another subscription");
        }
        let expected = if is_changed { RMW_RET_ERROR } else { RMW_RET_OK };
        assert_eq!(give_back(&self.readers[index]), expected);
        if tries_again {
            assert_eq!(give_back(&self.readers[index]), RMW_RET_ERROR, "a loan is returned once");
        }
        if !is_changed {
            assert!(!is_in_place(&blocks.bytes), "a returned message still points to shared memory");
        }
        self.readers[index].returned.push(loan);
    }

    /// Reads messages that were returned long ago, as a faulty program might. They are empty, or contain a later
    /// message.
    fn read_returned(&mut self) {
        let reader = &mut self.readers[self.random.usize(..3)];
        reader.returned.retain(|loan| !reader.held.contains(loan));
        reader.returned.iter().for_each(|loan| {
            // SAFETY: the subscription lives, so the memory of its returned messages exists. This message is not on
            // loan.
            let blocks = unsafe { &**loan };
            assert!(!is_in_place(&blocks.ranges) || self.misuse_per_mille > 0);
        });
    }

    /// Destroys a subscription while its messages are on loan, and creates a new one.
    fn replace_subscription(&mut self) {
        let subscription = reader(&self.ros);
        let reader = self.random.choice(&mut self.readers).unwrap();
        reader.held.drain(..).for_each(check);
        reader.returned.clear();
        let old = replace(&mut reader.subscription, subscription);
        // SAFETY: this library made the node and the subscription, which is not used again.
        assert_eq!(unsafe { rmw_destroy_subscription(self.ros.node, old) }, RMW_RET_OK);
    }

    /// Destroys the publisher while its messages are on loan, and creates a new one.
    fn replace_publisher(&mut self) {
        let publisher = self.ros.publisher_of(blocks_type(), c"/random", &QOS);
        let old = replace(&mut self.publisher, publisher);
        // SAFETY: this library made the node and the publisher, which is not used again.
        assert_eq!(unsafe { rmw_destroy_publisher(self.ros.node, old) }, RMW_RET_OK);
        self.readers.iter().flat_map(|reader| &reader.held).for_each(|loan| check(*loan));
    }

    fn act(&mut self) {
        match self.random.u32(..1000) {
            0..300 => self.publish(),
            300..600 => self.take(),
            600..996 => self.give_back(),
            996 => self.read_returned(),
            997..999 => self.replace_subscription(),
            _ => self.replace_publisher(),
        }
    }

    fn end(self) {
        self.ros.end(&[self.publisher], &self.readers.map(|reader| reader.subscription));
    }
}

fn reader(ros: &Ros) -> *mut rmw_subscription_t {
    ros.subscription_of(blocks_type(), c"/random", &QOS)
}

/// Checks that the message has the elements that were published.
fn check(loan: *mut Blocks) {
    // SAFETY: the test holds this message on loan.
    let blocks = unsafe { &*loan };
    assert_eq!(sum(blocks.number, elements(&blocks.bytes), elements(&blocks.ranges)), blocks.sum, "{}", blocks.number);
}

/// Changes a message in an allowed way: copied fields in any way, and only the length of sequences in shared memory.
fn change(random: &mut Rng, blocks: &mut Blocks) -> bool {
    let Blocks { bytes, number, .. } = blocks;
    match random.u32(..4) {
        0 => *number = 0,
        1 => bytes.size = random.usize(..=bytes.size),
        2 if !is_in_place(bytes) => {
            // SAFETY: the pointer is null, or `malloc` returned it.
            unsafe { libc::free(replace(bytes, malloc_sequence(random.usize(..LONG_BYTES))).data.cast()) };
        }
        _ => {}
    }
    false
}

/// Changes a message against the rules. Returns true if the library can detect the change.
fn misuse(random: &mut Rng, blocks: &mut Blocks) -> bool {
    let Blocks { bytes, ranges, .. } = blocks;
    let is_long = is_in_place(bytes);
    match random.u32(..3) {
        0 if is_long => *bytes = malloc_sequence(random.usize(..9000)),
        // SAFETY: all bits 0 are a valid, empty sequence.
        1 if is_long => *bytes = unsafe { zeroed() },
        2 if is_long && is_in_place(ranges) => {
            bytes.data = replace(&mut ranges.data, bytes.data.cast()).cast();
            (bytes.size, bytes.capacity) = (1, 1);
        }
        _ => return false,
    }
    true
}

fn open_files() -> usize {
    read_dir("/proc/self/fd").unwrap().count()
}

/// The role of the child: runs the random actions.
pub fn go_on() {
    let [seed, messages, misuse_per_mille] = [2, 3, 4].map(|index| {
        let argument = std::env::args().nth(index);
        argument.and_then(|argument| argument.parse::<u64>().ok()).unwrap()
    });
    let before = open_files();
    let mut world = World::new(seed, u32::try_from(misuse_per_mille).unwrap());
    while world.taken < messages {
        world.act();
    }
    let (sent, taken, changed) = (world.sent, world.taken, world.changed);
    world.end();
    assert!(misuse_per_mille > 0 || open_files() <= before, "{} files were open, and {before} before", open_files());
    say(&format!("sent {sent}, taken {taken}, changed {changed}"));
}

/// Runs a child. Returns the directory of its shared memory, and its text on standard error.
#[track_caller]
fn run(misuse_per_mille: u64) -> (tempfile::TempDir, String) {
    let seed = std::env::var("SEED").map_or_else(|_| fastrand::u64(..), |seed| seed.parse().unwrap());
    let messages = std::env::var("LOANED_MESSAGES").unwrap_or_else(|_| "10000".to_owned());
    let memory = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args([GO_ON, &seed.to_string(), &messages, &misuse_per_mille.to_string()]);
    let output = child.env("GANTRY_SHM_DIR", memory.path()).output().unwrap();
    let [said, errors] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    println!("SEED={seed}: {}", said.trim());
    let last = errors.lines().rev().take(5).collect::<Vec<_>>();
    assert!(output.status.success(), "SEED={seed}: {}: {last:#?}", output.status);
    (memory, errors)
}

fn random_loans_stay_right_and_leave_nothing() {
    let (memory, _) = run(0);
    let mut folders = vec![memory.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in read_dir(&folder).unwrap().map(Result::unwrap) {
            assert!(entry.file_type().unwrap().is_dir(), "{} is left", entry.path().display());
            folders.push(entry.path());
        }
    }
}

fn random_changes_of_loans_end_in_sentences() {
    let (_memory, errors) = run(5);
    assert!(errors.contains("a callback changed the sequence `bytes` of a loaned test_rmw/msg/Blocks"));
}
