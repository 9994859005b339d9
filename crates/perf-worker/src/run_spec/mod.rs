//! The complete description of one run: messages, rates, endpoints, QoS and durations. Every worker gets it as JSON.
//!
//! Invariant: the command line has checked the ranges of all values.

mod check;
mod mock_script;

use serde::{Deserialize, Serialize};

pub use crate::spec::{
    message::{Content, Layout, MessageSpec},
    qos::{Durability, History, Qos, Reliability},
    threshold::Threshold,
    ways::{PassBy, Phase, Roundtrip, RtScope, Strategy, Touch, Wait},
};
use crate::{
    choice::Choice,
    clock::SECOND_NS,
    pacing::Pace,
    spec::{
        capabilities::{Capabilities, DeliveryKind},
        daemon::DaemonCommand,
        description::Settings,
        matching::MatchingKind,
    },
};
pub use mock_script::{MockDaemon, MockScript, Timed, is_nth};

/// The conditions of a run, in the form in which its workers and its log have them. Names and values are the same as in
/// the options.
///
/// The log of an older version lacks some fields, which are then empty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunSpec {
    /// The middleware, by the name of its back end: `Gantry`, `Mock`, or the name of another program.
    pub communicator: String,
    /// The version of the middleware.
    pub middleware_version: String,
    /// The capabilities of the middleware.
    #[serde(default)]
    pub capabilities: Capabilities,
    /// The value of each setting of the middleware, confirmed by every worker.
    pub settings: Settings,
    /// The messages.
    #[serde(flatten)]
    pub message: MessageSpec,
    /// The name of the topic as it was given.
    pub topic: String,
    /// The ROS 2 domain, 0 to 232.
    pub domain_id: u32,
    /// Messages per second of each publisher; 0 is as fast as possible.
    pub rate_hz: u32,
    /// The times at which the periods of several publishers begin.
    pub phase: Phase,
    /// Publishers of this run; 0 if another program publishes.
    pub publishers: u32,
    /// Subscriptions of this run; 0 if another program subscribes.
    pub subscriptions: u32,
    /// The processes and threads of the endpoints.
    #[serde(rename = "execution_strategy")]
    pub strategy: Strategy,
    /// The round-trip mode; latencies of Main, Both and Service are round-trip times.
    #[serde(rename = "roundtrip_mode")]
    pub roundtrip: Roundtrip,
    /// Publishers that each subscription waits for before the start, including publishers of other programs.
    pub expected_publishers: u32,
    /// Subscriptions that each publisher waits for before the start, including subscriptions of other programs.
    pub expected_subscriptions: u32,
    /// The timeout of the wait for publishers and subscriptions, s.
    pub match_timeout_s: u32,
    /// Quality of service.
    #[serde(flatten)]
    pub qos: Qos,
    /// The warm-up before the run, left out of all rows and statistics, s.
    pub warmup_s: u32,
    /// The length of the run from the end of the warm-up to the last message, s; 0 is until interrupted.
    pub max_runtime_s: u32,
    /// The beginning of the run that is left out of all rows and statistics, s.
    pub ignore_s: u32,
    /// Whether messages are loaned and read in place instead of copied.
    pub zero_copy: bool,
    /// Whether messages are bytes without a type: time, id (both little-endian) and payload.
    #[serde(default)]
    pub raw: bool,
    /// Whether the phases of each message's way are marked, as far as the middleware shows them.
    #[serde(default)]
    pub phases: bool,
    /// Whether messages are known to go through shared memory.
    #[serde(default)]
    pub shared_memory: bool,
    /// The way in which messages reach subscriptions.
    pub delivery: DeliveryKind,
    /// The way in which subscriptions wait.
    pub wait: Wait,
    /// The part of each payload that is written and read.
    pub touch: Touch,
    /// The time by the clock for which each subscription, or on a round trip the relay or the server, is busy with each
    /// message, ns.
    #[serde(default)]
    pub work_ns: i64,
    /// The latency above which a sample is late, ns; null if no sample is late. In a topology, endpoints with short
    /// periods have smaller limits.
    pub late_above_ns: Option<u64>,
    /// The latency above which a sample is too late instead of late, ns; null if no sample is too late. In a topology,
    /// endpoints with short periods have smaller limits.
    pub too_late_above_ns: Option<u64>,
    /// Real-time priority (SCHED_FIFO) of the threads in `rt_scope`; 0 is none.
    pub rt_priority: u32,
    /// The threads with `rt_priority` and `pins`.
    pub rt_scope: RtScope,
    /// The CPUs that the workers may use; empty if all.
    pub rt_cpus: Vec<u32>,
    /// The CPUs to which the endpoints' threads are pinned in turn, publishers first; empty if they are not pinned.
    pub pins: Vec<u32>,
    /// Whether allocations are counted.
    pub check_memory: bool,
    /// Whether the CPUs are kept out of deep sleep.
    pub prevent_cpu_idle: bool,
    /// The measured daemons of the middleware, by pid or name.
    pub daemons: Vec<String>,
    /// The daemons that the run starts, as the middleware's check returned them. JSON has the command of each daemon,
    /// and the commands are not read back.
    #[serde(rename = "started_daemons", default, with = "commands")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    pub daemon_commands: Vec<DaemonCommand>,
    /// The executor that runs the nodes of a topology, one of [`Capabilities::executors`]; null in other runs, whose
    /// endpoints have threads of the instrument. The endpoints of a topology have their own messages, rates and QoS:
    /// `message` is the largest message, and `rate_hz` is 0.
    #[serde(default)]
    pub executor: Option<String>,
    /// Whether messages of nodes are reported one by one if they are late, missing or not sent.
    #[serde(default)]
    pub tracking: bool,
    /// The script of the mock.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub mock: MockScript,
    /// Notes about options that have no effect in this run, or are always in effect.
    #[serde(default)]
    pub heading_notes: Vec<String>,
}

/// Writes daemons as their commands, for readers of a log. Reading gives an empty list, because no run starts
/// daemons from a log.
mod commands {
    use serde::{Deserialize, Deserializer, Serializer};

    use super::DaemonCommand;

    pub fn serialize<S: Serializer>(daemons: &[DaemonCommand], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(daemons.iter().map(|daemon| daemon.command.join(" ")))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<DaemonCommand>, D::Error> {
        Vec::<String>::deserialize(deserializer).map(|_| Vec::new())
    }
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

    /// Whether publishers and subscriptions belong to this run, so that its topics get their own namespace.
    #[must_use]
    pub fn is_private(&self) -> bool {
        let one_way = self.roundtrip == Roundtrip::None && self.publishers > 0 && self.subscriptions > 0;
        one_way || matches!(self.roundtrip, Roundtrip::Both | Roundtrip::Service)
    }

    /// The shortest time between the due times of two messages that are not due at the same time, nanoseconds;
    /// `None` without a rate. With random phases it is the time between two messages of one publisher.
    #[must_use]
    pub fn gap_ns(&self) -> Option<i64> {
        let in_turn = if self.phase == Phase::Spread { self.publishers.max(1) } else { 1 };
        SECOND_NS.checked_div(i64::from(self.rate_hz) * i64::from(in_turn))
    }

    /// Whether the publishers of the subscribed topics belong to this run, so that their schedule is known and each
    /// subscription receives from their first message.
    #[must_use]
    pub fn has_publishers(&self) -> bool {
        self.publishers > 0
    }

    /// Whether probes decide that endpoints are matched, because the middleware does not count matched endpoints.
    #[must_use]
    pub fn has_probes(&self) -> bool {
        self.capabilities.matching != MatchingKind::Count
    }

    /// The number of seconds at the beginning of the run that are in no statistic.
    #[must_use]
    pub fn left_out_s(&self) -> u32 {
        self.warmup_s + self.ignore_s
    }

    /// The number of seconds from the first message to the last; `None` if the run lasts until it is interrupted.
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
    use crate::spec::daemon::Readiness;

    /// The run in the example of `docs/internals/worker-protocol.md`.
    pub fn example() -> RunSpec {
        let page = include_str!("../../../../docs/internals/worker-protocol.md");
        let plan = page.lines().find_map(|line| line.strip_prefix("-> {\"protocol\"")).unwrap();
        let plan: serde_json::Value = serde_json::from_str(&format!("{{\"protocol\"{plan}")).unwrap();
        serde_json::from_value(plan["spec"].clone()).unwrap()
    }

    #[test]
    fn a_log_has_the_daemons_as_their_commands() {
        let command = ["router", "--port", "7447"].map(str::to_owned).to_vec();
        let daemon = DaemonCommand { name: "router".to_owned(), command, ready: Readiness::Line("ready".to_owned()) };
        let spec = RunSpec { daemon_commands: vec![daemon], ..example() };
        let logged = serde_json::to_value(&spec).unwrap();
        assert_eq!(logged["started_daemons"], serde_json::json!(["router --port 7447"]));
        assert_eq!(serde_json::from_value::<RunSpec>(logged).unwrap(), example());
    }
}
