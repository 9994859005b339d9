//! The complete description of one run: messages, rates, endpoints, QoS and durations. Every worker receives it as
//! JSON.
//!
//! Invariant: every value is in the range of its option, because the command line has checked it.

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

/// The parameters of a run, as they are sent to workers and written to the log. Names and values are as in the
/// command-line options.
///
/// Logs of older versions lack some fields; these fields get empty values.
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
    /// The value of each setting of the middleware. Every worker has confirmed these values.
    pub settings: Settings,
    /// The messages of the run.
    #[serde(flatten)]
    pub message: MessageSpec,
    /// The name of the topic as the user gave it.
    pub topic: String,
    /// The ROS 2 domain, 0 to 232.
    pub domain_id: u32,
    /// Messages per second of each publisher; 0 means as fast as possible.
    pub rate_hz: u32,
    /// The times at which the periods of the publishers begin, if there are several publishers.
    pub phase: Phase,
    /// The number of publishers of this run; 0 if another program publishes.
    pub publishers: u32,
    /// The number of subscriptions of this run; 0 if another program subscribes.
    pub subscriptions: u32,
    /// The assignment of the endpoints to processes and threads.
    #[serde(rename = "execution_strategy")]
    pub strategy: Strategy,
    /// The round-trip mode. In the modes Main, Both and Service, latencies are round-trip times.
    #[serde(rename = "roundtrip_mode")]
    pub roundtrip: Roundtrip,
    /// The number of publishers that each subscription awaits before the start, including publishers of other programs.
    pub expected_publishers: u32,
    /// The number of subscriptions that each publisher awaits before the start, including subscriptions of other
    /// programs.
    pub expected_subscriptions: u32,
    /// The timeout of the wait for publishers and subscriptions, s.
    pub match_timeout_s: u32,
    /// Quality of service.
    #[serde(flatten)]
    pub qos: Qos,
    /// The duration of the warm-up before the run, s. Rows and statistics leave it out.
    pub warmup_s: u32,
    /// The duration from the end of the warm-up to the last message, s; 0 means until the run is interrupted.
    pub max_runtime_s: u32,
    /// The duration at the beginning of the run that rows and statistics leave out, s.
    pub ignore_s: u32,
    /// Whether publishers loan messages and subscriptions read them in place, instead of copying.
    pub zero_copy: bool,
    /// Whether messages are bytes without a type: time and id (both little-endian), then the payload.
    #[serde(default)]
    pub raw: bool,
    /// Whether the phases of each message's transfer (serialising, transport, wake-up, deserialising) are measured
    /// where the middleware supports it.
    #[serde(default)]
    pub phases: bool,
    /// Whether the transport of the messages is known to be shared memory.
    #[serde(default)]
    pub shared_memory: bool,
    /// Whether subscriptions take messages or the middleware delivers them.
    pub delivery: DeliveryKind,
    /// The way in which subscriptions wait for messages.
    pub wait: Wait,
    /// The part of each payload that the publisher writes and the subscription reads.
    pub touch: Touch,
    /// The simulated work for each message, ns of the clock: each subscription is busy for this time. On a round trip
    /// the relay or the server is busy instead.
    #[serde(default)]
    pub work_ns: i64,
    /// The latency above which a sample is late, ns; null means that no sample counts as late. In a topology, endpoints
    /// with short periods have smaller limits.
    pub late_above_ns: Option<u64>,
    /// The latency above which a sample is too late instead of late, ns; null means that no sample counts as too late.
    /// In a topology, endpoints with short periods have smaller limits.
    pub too_late_above_ns: Option<u64>,
    /// The real-time priority (SCHED_FIFO) of the threads in `rt_scope`; 0 means none.
    pub rt_priority: u32,
    /// The threads to which `rt_priority` and `pins` apply.
    pub rt_scope: RtScope,
    /// The CPUs that the workers may use; empty means all.
    pub rt_cpus: Vec<u32>,
    /// The CPUs to which the endpoints' threads are pinned in turn, publishers first; empty means that threads are not
    /// pinned.
    pub pins: Vec<u32>,
    /// Whether allocations are counted.
    pub check_memory: bool,
    /// Whether the CPUs are kept out of deep idle states.
    pub prevent_cpu_idle: bool,
    /// The daemons of the middleware whose resources are measured, by pid or name.
    pub daemons: Vec<String>,
    /// The daemons that the run starts, as returned by [`Backend::check`](crate::backend::Backend::check). JSON
    /// contains only their commands; reading JSON ignores them.
    #[serde(rename = "started_daemons", default, with = "commands")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    pub daemon_commands: Vec<DaemonCommand>,
    /// The executor that runs the nodes of a topology, one of [`Capabilities::executors`]. In other runs it is null,
    /// and the endpoints run on threads of `perf_test`. The endpoints of a topology have their own messages, rates and
    /// QoS: `message` is then the largest message, and `rate_hz` is 0.
    #[serde(default)]
    pub executor: Option<String>,
    /// Whether single messages of nodes are reported if they are late, missing or not sent.
    #[serde(default)]
    pub tracking: bool,
    /// The script of the mock middleware, which `perf_test` uses to test itself.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub mock: MockScript,
    /// Notes for the heading of the report: options that have no effect in this run, or are always in effect.
    #[serde(default)]
    pub heading_notes: Vec<String>,
}

/// Writes daemons as their commands, for readers of a log. Reading returns an empty list, because a run does not start
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
    /// The options that the middleware itself implements, with their values.
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

    /// Whether both publishers and subscriptions belong to this run. Its topics then get their own namespace.
    #[must_use]
    pub fn is_private(&self) -> bool {
        let one_way = self.roundtrip == Roundtrip::None && self.publishers > 0 && self.subscriptions > 0;
        one_way || matches!(self.roundtrip, Roundtrip::Both | Roundtrip::Service)
    }

    /// The shortest time between two different due times of messages of the run, nanoseconds; `None` if there is no
    /// rate. With random phases it is the time between two messages of one publisher.
    #[must_use]
    pub fn gap_ns(&self) -> Option<i64> {
        let in_turn = if self.phase == Phase::Spread { self.publishers.max(1) } else { 1 };
        SECOND_NS.checked_div(i64::from(self.rate_hz) * i64::from(in_turn))
    }

    /// Whether the publishers of the subscribed topics belong to this run. Their schedule is then known, and each
    /// subscription receives messages from their first one.
    #[must_use]
    pub fn has_publishers(&self) -> bool {
        self.publishers > 0
    }

    /// Whether the workers send probe messages to find out if endpoints are matched, because the middleware does not
    /// count matched endpoints.
    #[must_use]
    pub fn has_probes(&self) -> bool {
        self.capabilities.matching != MatchingKind::Count
    }

    /// The number of seconds at the beginning of the run that statistics leave out.
    #[must_use]
    pub fn left_out_s(&self) -> u32 {
        self.warmup_s + self.ignore_s
    }

    /// The number of seconds from the first message to the last; `None` if the run lasts until it is interrupted.
    #[must_use]
    pub fn length_s(&self) -> Option<u32> {
        (self.max_runtime_s > 0).then_some(self.warmup_s + self.max_runtime_s)
    }

    /// The end of a run that starts at `start_ns`; the largest time if the run lasts until it is interrupted.
    #[must_use]
    pub fn end_ns(&self, start_ns: i64) -> i64 {
        self.length_s().map_or(i64::MAX, |run_s| start_ns + i64::from(run_s) * SECOND_NS)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::spec::daemon::Readiness;

    /// The run that the example in `docs/internals/worker-protocol.md` describes.
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
