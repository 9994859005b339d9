//! The complete description of one run: messages, rates, endpoints, QoS and durations. Every worker gets it as JSON.
//!
//! Invariant: the command line has checked the ranges of all values.

mod mock_script;

use serde::{Deserialize, Serialize};

use crate::backend::{Capabilities, DaemonCommand, MatchingKind, Settings};
use crate::choice::{Choice, choice};
use crate::clock::SECOND_NS;
use crate::endpoint::Endpoint;
use crate::pacing::Pace;

pub use mock_script::{MockDaemon, MockScript, Timed, is_nth};

choice! {
    /// The generation of the layouts of the benchmark messages.
    pub enum Layout {
        /// Array1k is 1040 bytes: the array as named, then time and id. performance_test before 1.5.
        V1 = "1.x",
        /// Array1k is 1024 bytes, time and id included. performance_test 1.5 and 2.x.
        V2 = "2.x",
    }
    default V2
}

/// The content of a message. It determines the work besides stamping and, without zero copy, copying.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Content {
    /// A struct in place, always of the same size.
    Plain,
    /// Fields that are not all numbers, always of the same size.
    Fields,
    /// A sequence that is sent at its capacity.
    BoundedSequence,
    /// A sequence of `--unbounded-msg-size` bytes.
    Sequence,
    /// A text of `--unbounded-msg-size` bytes.
    Text,
}

impl Content {
    /// Whether `--unbounded-msg-size` applies.
    #[must_use]
    pub fn is_unbounded(self) -> bool {
        matches!(self, Content::Sequence | Content::Text)
    }
}

choice! {
    /// The processes and threads of publishers and subscriptions.
    pub enum Strategy {
        /// The publishers in one process, every subscription in its own.
        InterProcess = "INTER_PROCESS",
        /// All endpoints on threads of one process.
        InterThread = "INTER_THREAD",
        /// One publisher and its subscriptions on one thread, which publishes and then takes.
        IntraThread = "INTRA_THREAD",
    }
    default InterProcess
}

choice! {
    /// The beginnings of the publishers' periods, if there are several.
    pub enum Phase {
        /// At equal distances within a period.
        Spread = "spread",
        /// All at the same time: a burst in each period.
        Aligned = "aligned",
        /// At random within a period, new for each run.
        Random = "random",
    }
    default Spread
}

choice! {
    /// Round trips: messages go to a relay and back, and this run is one part or both.
    pub enum Roundtrip {
        /// They go one way.
        None = "None",
        /// This run publishes and gets its messages back from another program's relay.
        Main = "Main",
        /// This run is the relay of another program.
        Relay = "Relay",
        /// This run is both: the relay is a process of its own.
        Both = "Both",
        /// Requests and responses of a service: this run has the clients, and the server in a process of its own.
        Service = "Service",
    }
    default None
}

choice! {
    /// The way in which a subscription waits for samples.
    pub enum Wait {
        /// It polls and never sleeps.
        Spin = "spin",
        /// It sleeps at once.
        Block = "block",
        /// The middleware's own way.
        Adaptive = "adaptive",
    }
    default Adaptive
}

choice! {
    /// The part of each payload that is written before it is sent, and read after it was received.
    pub enum Touch {
        /// Time and id only.
        Stamp = "stamp",
        /// A byte of every page, too.
        Page = "page",
        /// Every byte.
        Full = "full",
    }
    default Stamp
}

choice! {
    /// The threads of a worker that have the real-time priority and the pins.
    pub enum RtScope {
        /// All but the instrument's: those of the endpoints, and the middleware's own.
        Process = "process",
        /// Those of the endpoints.
        Endpoints = "endpoints",
    }
    default Process
}

/// A latency above which a sample is late: the smaller one of a part of the period and a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Threshold {
    /// Fraction of the period; without meaning where messages have no period.
    pub part_of_period: Option<f64>,
    /// A time, nanoseconds.
    pub absolute_ns: Option<u64>,
}

impl Threshold {
    /// The executor study's bounds: 25 % of the period, 5 ms. (iRobot's own default is 20 %.)
    pub const LATE: Threshold = Threshold { part_of_period: Some(0.25), absolute_ns: Some(5_000_000) };
    /// One period, 50 ms.
    pub const TOO_LATE: Threshold = Threshold { part_of_period: Some(1.0), absolute_ns: Some(50_000_000) };

    /// The longest latency within the threshold at this pace, nanoseconds; `u64::MAX` without a threshold.
    #[must_use]
    pub fn limit_ns(&self, pace: Pace) -> u64 {
        let period_ns = pace.per_ns as f64 / f64::from(pace.messages);
        let part = self.part_of_period.filter(|_| pace.messages > 0).map(|part| (part * period_ns) as u64);
        [part, self.absolute_ns].into_iter().flatten().min().unwrap_or(u64::MAX)
    }
}

choice! {
    /// QoS policy of reliability.
    pub enum Reliability {
        /// All samples of the history are delivered.
        Reliable = "RELIABLE",
        /// Losses are allowed.
        BestEffort = "BEST_EFFORT",
    }
    default BestEffort
}

choice! {
    /// QoS policy of durability.
    pub enum Durability {
        /// A late subscription gets the publisher's history.
        TransientLocal = "TRANSIENT_LOCAL",
        /// A late subscription gets new samples only.
        Volatile = "VOLATILE",
    }
    default Volatile
}

choice! {
    /// QoS policy of the history that is kept for readers.
    pub enum History {
        /// The newest samples, up to the depth.
        KeepLast = "KEEP_LAST",
        /// All samples.
        KeepAll = "KEEP_ALL",
    }
    default KeepLast
}

/// The type of messages, and their size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageSpec {
    /// Its name for `-m`, as `Array4m`.
    pub name: String,
    /// The name of the ROS 2 type.
    pub type_name: String,
    /// Generation of its layout.
    pub layout: Layout,
    /// Its content.
    pub content: Content,
    /// Its true size, time and id included.
    pub bytes: usize,
    /// The largest id that it can carry, all ones; the next one is carried as 0.
    pub last_id: u64,
    /// Payload of a message that has no size of its own, bytes.
    pub unbounded_bytes: u32,
}

/// Quality of service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Qos {
    /// Whether samples may be lost.
    pub reliability: Reliability,
    /// Whether late subscriptions get earlier samples.
    pub durability: Durability,
    /// The samples that are kept.
    pub history: History,
    /// The number of samples that KEEP_LAST keeps.
    pub depth: u32,
}

impl std::fmt::Display for Qos {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, {}, {}", self.reliability.name(), self.durability.name(), self.history.name())?;
        match self.history {
            History::KeepLast => write!(f, " {}", self.depth),
            History::KeepAll => Ok(()),
        }
    }
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSpec {
    /// The middleware, by the name of its back end: `Gantry`, `Mock`, or another program's.
    pub communicator: String,
    /// Its version.
    pub middleware_version: String,
    /// Its capabilities.
    pub capabilities: Capabilities,
    /// Its settings, those that have their defaults included.
    pub settings: Settings,
    /// The messages.
    pub message: MessageSpec,
    /// The topic as given.
    pub topic: String,
    /// ROS 2 domain, 0 to 232.
    pub domain_id: u32,
    /// Messages per second of each publisher; 0 is as fast as possible.
    pub rate_hz: u32,
    /// The beginnings of the publishers' periods.
    pub phase: Phase,
    /// Publishers of this run; 0 if another program publishes.
    pub publishers: u32,
    /// Subscriptions of this run; 0 if another program subscribes.
    pub subscriptions: u32,
    /// Their processes and threads.
    pub strategy: Strategy,
    /// Whether messages come back.
    pub roundtrip: Roundtrip,
    /// Publishers that each subscription waits for before the start, with those of other programs.
    pub expected_publishers: u32,
    /// Subscriptions that each publisher waits for before the start, with those of other programs.
    pub expected_subscriptions: u32,
    /// The longest time that they wait, seconds.
    pub match_timeout_s: u32,
    /// Quality of service.
    pub qos: Qos,
    /// Seconds before those of `max_runtime_s`, in no row and no statistic.
    pub warmup_s: u32,
    /// Seconds from the end of the warm-up to the last message; 0 is until interrupted.
    pub max_runtime_s: u32,
    /// Seconds at the beginning of `max_runtime_s` that are in no row and no statistic.
    pub ignore_s: u32,
    /// Messages are loaned and read in place, not copied in and out.
    pub zero_copy: bool,
    /// Messages are bytes without a type: time, id (both little-endian) and payload.
    pub raw: bool,
    /// The phases of a message's way are marked, as far as the middleware lets them be seen.
    pub phases: bool,
    /// Messages go through shared memory.
    pub shared_memory: bool,
    /// The way in which subscriptions wait.
    pub wait: Wait,
    /// The part of each payload that is written and read.
    pub touch: Touch,
    /// The time by the clock for which each subscription is busy with each message, or on a round trip the relay or the server, ns.
    pub work_ns: i64,
    /// Above this latency a sample is late.
    pub late: Threshold,
    /// Above this latency a sample is too late, and not late.
    pub too_late: Threshold,
    /// Real-time priority (SCHED_FIFO); 0 is none.
    pub rt_priority: u32,
    /// The threads that have this priority and these pins.
    pub rt_scope: RtScope,
    /// CPUs that the workers may use; empty: all.
    pub rt_cpus: Vec<u32>,
    /// CPUs to which the endpoints' threads are pinned in turn, publishers first; empty: not pinned.
    pub pins: Vec<u32>,
    /// Allocations per message are counted.
    pub check_memory: bool,
    /// CPUs are kept from sleeping deeply.
    pub prevent_cpu_idle: bool,
    /// Processes that the middleware needs besides the workers, by number or name.
    pub daemons: Vec<String>,
    /// The daemons that the run starts, by the check of the middleware. Workers do not get them.
    #[serde(skip)]
    pub daemon_commands: Vec<DaemonCommand>,
    /// The script of the mock.
    pub mock: MockScript,
    /// Notes about options that have no effect in this run, or are always in effect. The heading prints them.
    pub heading_notes: Vec<String>,
}

impl RunSpec {
    /// The options that the middleware carries out, with their values.
    #[must_use]
    pub fn options(&self) -> Settings {
        let Qos { reliability, durability, history, depth } = self.qos;
        let depth = match history {
            History::KeepLast => depth.to_string(),
            History::KeepAll => "all".to_owned(),
        };
        let options = [
            ("reliability", reliability.name().to_owned()),
            ("durability", durability.name().to_owned()),
            ("history", history.name().to_owned()),
            ("history-depth", depth),
            ("zero-copy", self.zero_copy.to_string()),
            ("raw", self.raw.to_string()),
            ("wait", self.wait.name().to_owned()),
        ];
        options.map(|(name, value)| (name.to_owned(), value)).into()
    }

    /// The pace of each publisher.
    #[must_use]
    pub fn pace(&self) -> Pace {
        Pace::hz(self.rate_hz)
    }

    /// The busy time of an endpoint for each message, ns: on a round trip that of the relay or the server alone.
    #[must_use]
    pub fn work_of_ns(&self, endpoint: Endpoint) -> i64 {
        let works = match endpoint {
            Endpoint::Publisher(_) => false,
            Endpoint::Subscription(_) => self.roundtrip == Roundtrip::None,
            Endpoint::Relay(_) => true,
        };
        if works { self.work_ns } else { 0 }
    }

    /// Whether both sides belong to this run, so that its topics get their own namespace.
    #[must_use]
    pub fn is_private(&self) -> bool {
        let one_way = self.roundtrip == Roundtrip::None && self.publishers > 0 && self.subscriptions > 0;
        one_way || matches!(self.roundtrip, Roundtrip::Both | Roundtrip::Service)
    }

    /// The shortest time between the due times of two messages that are not due at once, nanoseconds; none without a rate. With random
    /// phases it is that of one publisher.
    #[must_use]
    pub fn gap_ns(&self) -> Option<i64> {
        let in_turn = if self.phase == Phase::Spread { self.publishers.max(1) } else { 1 };
        SECOND_NS.checked_div(i64::from(self.rate_hz) * i64::from(in_turn))
    }

    /// Whether the publishers of the subscribed topics belong to this run, so that their schedule is known and each subscription
    /// receives from their first message.
    #[must_use]
    pub fn has_publishers(&self) -> bool {
        self.publishers > 0
    }

    /// Whether probes decide that endpoints are matched, because the middleware does not count the others.
    #[must_use]
    pub fn has_probes(&self) -> bool {
        self.capabilities.matching != MatchingKind::Count
    }

    /// The number of endpoints of the other side for which an endpoint waits before the start.
    #[must_use]
    pub fn expected_by(&self, endpoint: Endpoint) -> u32 {
        match endpoint {
            // The server has all clients, and each client has the server.
            Endpoint::Relay(_) if self.roundtrip == Roundtrip::Service => self.publishers,
            // Each of the two topics of a round trip has one of each.
            Endpoint::Relay(_) => 1,
            _ if matches!(self.roundtrip, Roundtrip::Both | Roundtrip::Service) => 1,
            Endpoint::Publisher(_) => self.expected_subscriptions,
            Endpoint::Subscription(_) => self.expected_publishers,
        }
    }

    /// Seconds at the beginning that are in no statistic.
    #[must_use]
    pub fn left_out_s(&self) -> u32 {
        self.warmup_s + self.ignore_s
    }

    /// Seconds from the first message to the last; `None` is until interrupted.
    #[must_use]
    pub fn length_s(&self) -> Option<u32> {
        (self.max_runtime_s > 0).then_some(self.warmup_s + self.max_runtime_s)
    }

    /// The end of a run that starts at `start_ns`; the largest time if only a signal ends it.
    #[must_use]
    pub fn end_ns(&self, start_ns: i64) -> i64 {
        self.length_s().map_or(i64::MAX, |run_s| start_ns + i64::from(run_s) * SECOND_NS)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The run in the example of the page about the protocol.
    pub fn example() -> RunSpec {
        let page = include_str!("../../../../docs/internals/worker-protocol.md");
        let plan = page.lines().find_map(|line| line.strip_prefix("-> {\"protocol\"")).unwrap();
        let plan: serde_json::Value = serde_json::from_str(&format!("{{\"protocol\"{plan}")).unwrap();
        serde_json::from_value(plan["spec"].clone()).unwrap()
    }
}
