//! The talker: a process that publishes numbered messages at constant rates, and measures its publish calls.

use crate::DOMAIN;
use gantry::{GenericPublisher, Message, Node, Qos, TypeDescription};
use gantry_msgs::std_msgs::msg::UInt8MultiArray;
use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// The environment variable that makes this program a talker. Its value has the number of seconds, the number of
/// subscriptions for which each publisher waits, and the topics as NAME:BYTES:HZ.
pub const TALKER: &str = "BAG_BENCH_TALKER";
/// The longest wait for a subscription.
const PATIENCE: Duration = Duration::from_secs(30);
/// The time before the first publish call that is measured. In this time, the publisher gets its memory.
const WARM_UP: Duration = Duration::from_secs(1);
/// The longest period of the kernel's timer interrupt on usual systems (`CONFIG_HZ` is 250 or more).
const TICK: Duration = Duration::from_millis(4);
/// The bytes of a message before its data: an empty layout, and the length of the data.
const START_BYTES: usize = 12;

/// The type of the messages, which is a standard one, so that every recorder of ROS 2 can record them.
pub fn message_type() -> TypeDescription {
    TypeDescription {
        name: UInt8MultiArray::TYPE_NAME.to_owned(),
        hash: UInt8MultiArray::TYPE_HASH,
        definition: UInt8MultiArray::DEFINITION.into(),
        payload_bytes: usize::MAX,
    }
}

/// The messages of a topic, and the durations of the publish calls after the warm-up.
pub struct Published {
    pub topic: String,
    pub count: u64,
    pub times_ns: Vec<u64>,
}

/// A running talker.
pub struct Talker {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Talker {
    /// Starts a talker, and waits until its publishers are matched.
    pub fn start(plan: &str, seconds: u64, subscriptions: usize) -> Talker {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.env(TALKER, format!("{seconds} {subscriptions} {plan}"));
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert_eq!(lines.next().unwrap().unwrap(), "matched");
        Talker { child, lines }
    }

    /// Waits for the end, and returns the published topics.
    pub fn end(mut self) -> Vec<Published> {
        let parse = |line: String| {
            let mut words = line.split(' ').map(str::to_owned);
            let (topic, count) = (words.next().unwrap(), words.next().unwrap().parse().unwrap());
            Published { topic, count, times_ns: words.map(|time| time.parse().unwrap()).collect() }
        };
        let published = self.lines.map(|line| parse(line.unwrap())).collect();
        assert!(self.child.wait().unwrap().success());
        published
    }
}

/// Publishes messages as `plan` states, and prints the durations of loan and publish. They include the wake-up of
/// readers.
pub fn talk(plan: &str) {
    let mut words = plan.split_whitespace();
    let end = Duration::from_secs(words.next().unwrap().parse().unwrap());
    let subscriptions = words.next().unwrap().parse().unwrap();
    let node = Node::builder("talker").domain_id(DOMAIN).build().unwrap();
    let mut publishers = Vec::new();
    for word in words {
        let parts: Vec<&str> = word.split(':').collect();
        let (bytes, hz) = (parts[1].parse::<usize>().unwrap(), parts[2].parse::<f64>().unwrap());
        let mut publisher = node.create_generic_publisher(parts[0], message_type(), Qos::default()).unwrap();
        assert!(publisher.wait_for_subscriptions(subscriptions, PATIENCE).unwrap(), "{word} has no subscription");
        publishers.push((publisher, bytes, Duration::from_secs_f64(1.0 / hz)));
    }
    print_line("matched");
    let threads: Vec<_> = publishers.into_iter().map(|plan| thread::spawn(move || publish(plan, end))).collect();
    threads.into_iter().for_each(|thread| print_line(&thread.join().unwrap()));
}

/// Publishes at times that differ from the period by a random part of `TICK`. Otherwise a topic would meet the timer
/// interrupt of the kernel in each of its messages or in none of them, depending on the time of its first message.
fn publish((mut publisher, bytes, period): (GenericPublisher, usize, Duration), end: Duration) -> String {
    let (begin, mut count, mut line) = (Instant::now(), 0, String::new());
    for (number, random) in (0..).zip(words(bytes as u64)) {
        let due = period * number + period.min(TICK).mul_f64(random as f64 / u64::MAX as f64);
        if due >= end {
            break;
        }
        thread::sleep(due.saturating_sub(begin.elapsed()));
        let before = Instant::now();
        let mut loan = publisher.loan(bytes).unwrap();
        let loaned = before.elapsed();
        fill(loan.bytes_mut(), count);
        let before = Instant::now();
        publisher.publish(loan).unwrap();
        if begin.elapsed() > WARM_UP {
            line += &format!(" {}", (loaned + before.elapsed()).as_nanos());
        }
        count += 1;
    }
    format!("{} {count}{line}", publisher.topic())
}

/// Prints a line on standard output, at once.
pub fn print_line(line: &str) {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(format!("{line}\n").as_bytes()).unwrap();
}

/// The words of the data of the message with this number: the number, then words that depend on it.
fn words(number: u64) -> impl Iterator<Item = u64> {
    let next = |word: &u64| Some(word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    std::iter::successors(Some(number), next)
}

fn fill(message: &mut [u8], number: u64) {
    let data_bytes = (message.len() - START_BYTES) as u32;
    message[..8].fill(0);
    message[8..START_BYTES].copy_from_slice(&data_bytes.to_le_bytes());
    let (data, rest) = message[START_BYTES..].as_chunks_mut();
    data.iter_mut().zip(words(number)).for_each(|(bytes, word)| *bytes = word.to_le_bytes());
    rest.fill(0);
}

/// The number of a message without its encapsulation header; `None` if any byte of its data is wrong.
pub fn number(message: &[u8]) -> Option<u64> {
    let (data, _) = message[START_BYTES..].as_chunks();
    let number = u64::from_le_bytes(*data.first()?);
    data.iter().zip(words(number)).all(|(bytes, word)| *bytes == word.to_le_bytes()).then_some(number)
}
