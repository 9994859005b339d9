//! The other process, which publishes on many topics, one after the other, on a schedule of absolute times.
//!
//! The input lines of this process are `publish LISTENER TOPICS` (makes the publishers), `turn LISTENER PERIOD_NS
//! COUNT` and `end` (`peer`).

use crate::{
    Result,
    cpus::Cpus,
    meter,
    peer::{self, Role},
};
use gantry::{Node, Publisher, Qos};
use gantry_cdr::PlainMessage;
use rustix::{
    thread::{clock_nanosleep_absolute, set_current_timer_slack},
    time::{ClockId, Timespec},
};
use std::{io::Write, num::NonZeroU64, time::Duration};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// The time limit of the wait for the measuring process's subscriptions.
const PATIENCE: Duration = Duration::from_secs(60);
/// The pause from `ready` to the first message, in which the executor begins to spin, and also from the last message to
/// `ok`, in which the spin ends.
const PAUSE: Duration = Duration::from_millis(10);
/// The sum of the depths of all topics. It equals the largest number of messages of a turn, so that a reader that
/// briefly falls behind loses no message.
const DEPTH: usize = 400;
/// The smallest depth of a topic.
const LEAST_DEPTH: usize = 16;

/// The message that is published.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Note([u64; 8]);

impl PlainMessage for Note {
    const TYPE_NAME: &'static str = "executors_bench/msg/Note";
    const DEFINITION: &'static str = "uint64[8] data\n";
}

/// The name of one of the listener's `topics` topics.
pub fn name(listener: &str, topics: usize, topic: usize) -> String {
    format!("/{listener}/of_{topics}/topic_{topic}")
}

/// Makes a node in a domain of this run, which other programs on this machine do not use.
pub fn node(session: u32, name: &str) -> Result<Node> {
    Ok(Node::builder(name).domain_id(1 + session % gantry::MAX_DOMAIN_ID).build()?)
}

/// The QoS of the publishers and subscriptions for this number of topics.
pub fn qos(topics: usize) -> Qos {
    Qos::default().reliable().volatile().keep_last((DEPTH / topics).max(LEAST_DEPTH) as u32)
}

/// The publishers on the topics of a listener.
struct Talker {
    listener: String,
    publishers: Vec<Publisher<Note>>,
    /// The index of the publisher that publishes the next message.
    next: usize,
}

/// Executes the input lines until `end`.
pub fn play(words: &[String]) -> Result<()> {
    let role = Role::parse(words)?;
    Cpus::pin(&role.cpus.all())?;
    let node = node(role.place.parse()?, "talker")?;
    // Without this call, the kernel adds 50 µs to each sleep.
    set_current_timer_slack(NonZeroU64::new(1))?;
    let mut talkers = Vec::new();
    role.play(|line, output| obey(line, &node, &mut talkers, output))
}

fn obey(line: &str, node: &Node, talkers: &mut Vec<Talker>, output: &mut dyn Write) -> Result<()> {
    let words: Vec<&str> = line.split(' ').collect();
    match words[..] {
        ["publish", listener, topics] => {
            talkers.push(Talker::new(node, listener, topics.parse()?)?);
            Ok(())
        }
        ["turn", listener, period_ns, count] => {
            let (period_ns, count) = (period_ns.parse()?, count.parse()?);
            let talker = talkers.iter_mut().find(|talker| talker.listener == listener);
            peer::ready(output)?;
            talker.ok_or_else(|| format!("there are no publishers for {listener}"))?.publish(period_ns, count)
        }
        ["end"] => Ok(()),
        _ => Err(format!("the benchmark said {line:?}, which means nothing").into()),
    }
}

impl Talker {
    fn new(node: &Node, listener: &str, topics: usize) -> Result<Talker> {
        let mut publishers = Vec::new();
        for topic in 0..topics {
            let mut publisher = node.create_publisher(&name(listener, topics, topic), qos(topics))?;
            if !publisher.wait_for_subscriptions(2, PATIENCE)? {
                let why = publisher.mismatches()?.join("; ");
                return Err(format!("{} has not two subscriptions: {why}", publisher.topic()).into());
            }
            publishers.push(publisher);
        }
        Ok(Talker { listener: listener.to_owned(), publishers, next: 0 })
    }

    fn publish(&mut self, period_ns: u64, count: usize) -> Result<()> {
        let mut due_ns = meter::ns(ClockId::Monotonic) + PAUSE.as_nanos() as u64;
        for _ in 0..count {
            sleep_until(due_ns)?;
            let publisher = &mut self.publishers[self.next];
            let mut note = publisher.loan()?;
            note.0 = [due_ns; 8];
            publisher.publish(note).map_err(gantry::Error::from)?;
            self.next = (self.next + 1) % self.publishers.len();
            due_ns += period_ns;
        }
        std::thread::sleep(PAUSE);
        Ok(())
    }
}

fn sleep_until(due_ns: u64) -> Result<()> {
    let due = Timespec { tv_sec: (due_ns / 1_000_000_000) as i64, tv_nsec: (due_ns % 1_000_000_000) as i64 };
    loop {
        match clock_nanosleep_absolute(ClockId::Monotonic, &due) {
            Err(rustix::io::Errno::INTR) => {}
            slept => return Ok(slept?),
        }
    }
}
