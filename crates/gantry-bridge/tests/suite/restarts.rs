//! Tests of bridges and nodes that are killed and started again, in random order.

use super::{
    hosts::*,
    two_hosts::{say, string_type, subscription, take},
};
use crate::support::Link;
use gantry::Qos;
use gantry_msgs::std_msgs::msg::String as Text;
use gantry_shm::{Participant, Sample};
use std::{
    io::{BufRead, BufReader, Lines, Write, stdin},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

const DEPTH: usize = 3;

/// The number of kills, which `BRIDGE_TEST_ROUNDS` may set.
fn rounds() -> u64 {
    std::env::var("BRIDGE_TEST_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(6)
}

/// A random order of kills. `BRIDGE_TEST_SEED` repeats an order.
struct Dice(u64);

impl Dice {
    fn new() -> Dice {
        let given = std::env::var("BRIDGE_TEST_SEED").ok().and_then(|text| text.parse().ok());
        let seed = given.unwrap_or_else(|| SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64);
        eprintln!("BRIDGE_TEST_SEED={seed}");
        Dice(seed | 1)
    }

    fn below(&mut self, limit: usize) -> usize {
        // xorshift64
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % limit
    }
}

/// The node that publishes, in a process of its own. A line of its input is a text to publish.
#[test]
#[ignore = "a process of other tests"]
fn talker() {
    let node = node("talker");
    let qos = Qos::default().keep_last(DEPTH as u32).transient_local();
    let mut publisher = node.create_publisher::<Text>("/map", qos).unwrap();
    for text in stdin().lines() {
        say(&mut publisher, &text.unwrap());
        println!("{PUBLISHED}");
    }
}

/// The line that a talker prints after it has published a text.
const PUBLISHED: &str = "published";

/// The process of a talker. It is killed when this value is dropped.
struct Talker {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Talker {
    fn start() -> Talker {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "suite::restarts::talker", "--ignored", "--nocapture"]);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Talker { process, lines }
    }

    fn publish(&mut self, text: &str) {
        writeln!(self.process.stdin.as_mut().unwrap(), "{text}").unwrap();
        // The test runner prints lines before the test's own.
        assert!(self.lines.any(|line| line.unwrap().ends_with(PUBLISHED)), "the talker has ended");
    }
}

impl Drop for Talker {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The text of a sample: its number, and content that depends on the number, so that a damaged sample is noticed.
fn text(round: u64, number: u64) -> String {
    let content: String =
        (0..1000).map(|index| char::from(b'a' + ((round * 31 + number * 7 + index) % 26) as u8)).collect();
    format!("{round:06} {number} {content}")
}

/// Returns the numbers of the samples of this round, and checks their content. Samples of earlier rounds may still
/// arrive, and are ignored.
fn numbers_of_round(round: u64, samples: Vec<Sample>) -> Vec<u64> {
    let number = |sample: Sample| {
        let (length, content) = sample.bytes().split_first_chunk::<4>().unwrap();
        let content = &content[..u32::from_le_bytes(*length) as usize - 1];
        let found = std::str::from_utf8(content).unwrap();
        let number = found[7..8].parse().unwrap();
        let is_its = found.starts_with(&format!("{round:06}"));
        assert!(!is_its || found == text(round, number), "round {round}: {found}");
        is_its.then_some(number)
    };
    samples.into_iter().filter_map(number).collect()
}

/// Publishes five samples. Two late joiners must get the newest ones once, and the last one once.
fn check(round: u64, talker: &mut Talker, far: &Arc<Participant>) {
    (0..4).for_each(|number| talker.publish(&text(round, number)));
    let mut joiners = Vec::new();
    for _ in 0..2 {
        let qos = Qos::default().keep_last(100).transient_local();
        let mut late = subscription(far, "/map", &string_type(), qos);
        let mut found = Vec::new();
        while found.last() != Some(&3) {
            found.extend(numbers_of_round(round, take(&mut late, 1)));
        }
        // The oldest samples may be missing: they may still have been under way when the subscription joined.
        assert!(found.len() >= DEPTH && [0, 1, 2, 3].ends_with(&found), "round {round}: {found:?}");
        joiners.push(late);
    }
    // A sample that is delivered twice would arrive before the next sample.
    talker.publish(&text(round, 4));
    for late in &mut joiners {
        let mut found = Vec::new();
        while found.is_empty() {
            found.extend(numbers_of_round(round, take(late, 1)));
        }
        assert_eq!(found, [4], "round {round}");
    }
}

/// Kills the two bridges, the talker and the further processes in random order, and checks the samples after each kill.
/// `start` starts the bridge of a host, `others` are functions that start a further process.
pub fn survive_kills(second: &Path, start: impl Fn(&Path) -> Bridge, others: &[&dyn Fn() -> Bridge]) {
    let (start_a, start_b) = (|| start(&first_host()), || start(second));
    let (mut bridge_a, mut bridge_b) = (start_a(), start_b());
    let mut running: Vec<Bridge> = others.iter().map(|start| start()).collect();
    let mut talker = Talker::start();
    let far = join(second);
    let _node = far_node(&far, "/far_listener");
    let mut dice = Dice::new();
    for round in 0..rounds() {
        match dice.below(3 + others.len()) {
            0 => {
                bridge_a.kill();
                bridge_a = start_a();
            }
            1 => {
                bridge_b.kill();
                bridge_b = start_b();
            }
            2 => talker = Talker::start(), // the former process is killed
            other => {
                running.remove(other - 3).kill();
                running.insert(other - 3, others[other - 3]());
            }
        }
        check(round, &mut talker, &far);
    }
    drop((bridge_a, bridge_b));
}

#[test]
fn each_late_joiner_gets_the_latched_samples_once_after_each_kill() {
    in_host("suite::restarts::each_late_joiner_gets_the_latched_samples_once_after_each_kill", |second| {
        let link = Link::new();
        survive_kills(second, |host| link.start(host), &[]);
    });
}
