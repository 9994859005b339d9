//! The rows of the tables, in the order of a cycle. Rows that are compared with each other are adjacent.

use crate::{
    Result, channel,
    cpus::Cpus,
    gantry, locked,
    paced::{self, Paced},
    queue::{Receives, Sends},
    ring,
    statistics::Statistics,
    stream::{self, BLOCK, DEPTH},
};
use ::gantry::PublishMode;
use std::time::Duration;

/// The period of the thread that wakes the readers of asynchronous publishers.
pub const PERIOD: Duration = Duration::from_micros(100);

/// The period of asynchronous publishers whose reader polls. It is long, because no sleeping reader needs to be woken.
const POLLED_PERIOD: Duration = Duration::from_secs(1);

/// The mechanism that carries the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// Gantry.
    Gantry {
        /// Whether the publisher's sender thread wakes the readers; otherwise the publishing thread does.
        is_async: bool,
        /// Whether the caller gives each message its time, so that the publisher reads no clock.
        caller_time: bool,
    },
    /// A ring between two threads.
    Rtrb,
    /// A queue behind a mutex, with a condition variable.
    Mutex,
    /// The standard library's channel.
    Channel,
}

/// Gantry with its default options.
pub const GANTRY: Carrier = Carrier::Gantry { is_async: false, caller_time: false };
/// Gantry as a real-time loop uses it: asynchronous, so that the publisher makes no system call.
pub const GANTRY_ASYNC: Carrier = Carrier::Gantry { is_async: true, caller_time: false };

impl Carrier {
    /// All carriers that are measured with messages back to back.
    const BACK_TO_BACK: [Carrier; 7] = [
        GANTRY,
        GANTRY_ASYNC,
        Carrier::Gantry { is_async: false, caller_time: true },
        Carrier::Gantry { is_async: true, caller_time: true },
        Carrier::Rtrb,
        Carrier::Mutex,
        Carrier::Channel,
    ];

    /// The carrier's name in tables and ratios.
    pub fn name(self) -> &'static str {
        match self {
            GANTRY => "gantry",
            GANTRY_ASYNC => "gantry-async",
            Carrier::Gantry { is_async: false, .. } => "gantry-caller-time",
            Carrier::Gantry { is_async: true, .. } => "gantry-async-caller-time",
            Carrier::Rtrb => "rtrb",
            Carrier::Mutex => "mutex",
            Carrier::Channel => "channel",
        }
    }
}

/// The way in which messages are sent and taken if the next message is always available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Messages go from thread to thread; each message is sent after the previous one was taken.
    OneAtATime,
    /// Messages go from thread to thread at full speed.
    Stream,
    /// One thread sends and takes the messages.
    Alone,
    /// Messages are sent in batches, and taken between the batches; only sending is measured.
    Sending,
}

impl Way {
    /// The name of the way in the table.
    pub fn name(self) -> &'static str {
        match self {
            Way::OneAtATime => "one at a time",
            Way::Stream => "stream",
            Way::Alone => "one thread does both",
            Way::Sending => "sending alone",
        }
    }

    /// The number of messages in a sample.
    pub fn divisor(self) -> u64 {
        match self {
            Way::OneAtATime => 1,
            Way::Stream | Way::Alone => BLOCK,
            Way::Sending => DEPTH as u64,
        }
    }
}

/// A row of the table of messages back to back.
pub struct Row {
    /// The way in which messages are sent and taken.
    pub way: Way,
    /// The carrier of the messages.
    pub carrier: Carrier,
    /// The turns that were measured.
    pub statistics: Statistics,
}

/// A row of the table of messages at 2 kHz.
pub struct PacedRow {
    /// The carrier of the messages.
    pub carrier: Carrier,
    /// The time from the sender to the reader.
    pub latency: Statistics,
    /// The time that the sender spends on a message.
    pub sending: Statistics,
    /// The CPU time per message in each turn, as in [`Paced::cpu_ns`].
    pub cpu_ns: Vec<[f64; 3]>,
}

impl Row {
    /// All rows; with a single CPU, only the rows that need no second CPU.
    pub fn all(cpus: &Cpus) -> Vec<Row> {
        let between: &[Way] = if cpus.second.is_some() { &[Way::OneAtATime, Way::Stream] } else { &[] };
        let ways = between.iter().chain(&[Way::Alone, Way::Sending]);
        let carriers = Carrier::BACK_TO_BACK;
        ways.flat_map(|&way| carriers.map(|carrier| Row { way, carrier, statistics: Statistics::default() })).collect()
    }

    /// Measures a turn, in ticks.
    pub fn turn(&self, cpus: &Cpus) -> Result<Vec<u64>> {
        let samples = match self.carrier {
            Carrier::Gantry { is_async, caller_time } => {
                let mode = if is_async { PublishMode::Async { period: POLLED_PERIOD } } else { PublishMode::Sync };
                let (publisher, subscription) = gantry::pair(DEPTH, mode, caller_time)?;
                run(self.way, publisher, subscription, cpus)
            }
            Carrier::Rtrb => {
                let (writer, reader) = ring::pair(DEPTH, false);
                run(self.way, writer, reader, cpus)
            }
            Carrier::Mutex => {
                let (sender, receiver) = locked::pair(DEPTH);
                run(self.way, sender, receiver, cpus)
            }
            Carrier::Channel => {
                let (sender, receiver) = channel::pair(DEPTH);
                run(self.way, sender, receiver, cpus)
            }
        };
        samples.map_err(|why| format!("{}, {}: {why}", self.carrier.name(), self.way.name()).into())
    }
}

fn run(way: Way, sender: impl Sends, receiver: impl Receives, cpus: &Cpus) -> Result<Vec<u64>> {
    match way {
        Way::OneAtATime => stream::one_at_a_time(sender, receiver, cpus),
        Way::Stream => stream::stream(sender, receiver, cpus),
        Way::Alone => stream::alone(sender, receiver),
        Way::Sending => stream::sending(sender, receiver),
    }
}

impl PacedRow {
    /// All rows.
    pub fn all() -> Vec<PacedRow> {
        let carriers = [GANTRY, GANTRY_ASYNC, Carrier::Rtrb, Carrier::Mutex, Carrier::Channel];
        let row = |carrier| PacedRow {
            carrier,
            latency: Statistics::default(),
            sending: Statistics::default(),
            cpu_ns: Vec::new(),
        };
        carriers.map(row).into()
    }

    /// Measures a turn.
    pub fn turn(&mut self, cpus: &Cpus) -> Result<()> {
        let paced = self.paced(cpus).map_err(|why| format!("{}, at 2 kHz: {why}", self.carrier.name()))?;
        let Paced { mut latencies, mut sendings, cpu_ns } = paced;
        self.latency.add_turn(&mut latencies);
        self.sending.add_turn(&mut sendings);
        self.cpu_ns.push(cpu_ns);
        Ok(())
    }

    fn paced(&self, cpus: &Cpus) -> Result<Paced> {
        match self.carrier {
            Carrier::Gantry { is_async, caller_time } => {
                let mode = if is_async { PublishMode::Async { period: PERIOD } } else { PublishMode::Sync };
                let (sender, receiver) = gantry::pair(paced::DEPTH, mode, caller_time)?;
                paced::paced(sender, receiver, cpus)
            }
            Carrier::Rtrb => {
                let (writer, reader) = ring::pair(paced::DEPTH, true);
                paced::paced(writer, reader, cpus)
            }
            Carrier::Mutex => {
                let (sender, receiver) = locked::pair(paced::DEPTH);
                paced::paced(sender, receiver, cpus)
            }
            Carrier::Channel => {
                let (sender, receiver) = channel::pair(paced::DEPTH);
                paced::paced(sender, receiver, cpus)
            }
        }
    }
}
