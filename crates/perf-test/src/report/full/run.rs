//! The run and its conditions in Gantry's own log.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Build;
use crate::report::external_info::ExternalInfo;
use crate::topology::Topology;
use perf_worker::choice::Choice;
use perf_worker::run_spec::{RunSpec, Threshold};

/// One run of the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunEntry {
    /// The run's own number, 16 hexadecimal digits.
    pub id: String,
    /// The program that measured.
    pub program: String,
    /// Its version.
    pub version: String,
    /// The command line.
    pub command_line: Vec<String>,
    /// The creation of the log by the system's wall clock, ms since 1970-01-01 UTC.
    pub created_unix_ms: u64,
    /// The full name of the topic.
    pub full_topic: String,
    /// The environment variable APEX_PERFORMANCE_TEST.
    pub external_info: ExternalInfo,
    /// The builds of the programs, and the boot of the machine.
    #[serde(default)]
    pub build: Build,
    /// The conditions of the run, defaults included.
    pub spec: Conditions,
    /// The resolved topology, as `perf_test list --topology NAME --json` prints it; its publishers, subscriptions and
    /// servers are numbered in this order. The clients of a node come after its publishers and its subscriptions: each
    /// is a publisher of requests and a subscription to their responses. Absent in other runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topology: Option<Map<String, Value>>,
    /// The way in which the nodes of the topology were run; absent in other runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<NodesEntry>,
}

/// The way in which the nodes of a topology were run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NodesEntry {
    /// Their processes: `file` (one for each file), `node` (one for each node) or `one`.
    pub processes: String,
    /// The `msg_pass_by` of all endpoints in place of that of the files; null if they have their own.
    pub pass_by: Option<String>,
    /// The latencies above which messages are late and too late, in words.
    pub late: String,
}

/// A topology as it is in the log.
#[must_use]
pub fn resolved(topology: &Topology) -> Option<Map<String, Value>> {
    match serde_json::to_value(topology) {
        Ok(Value::Object(topology)) => Some(topology),
        _ => None,
    }
}

impl RunEntry {
    /// Of this process.
    #[must_use]
    pub fn now(spec: &RunSpec, id: &str, full_topic: &str, external_info: &ExternalInfo) -> RunEntry {
        let since_1970 = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        RunEntry {
            id: id.to_owned(),
            program: "Gantry perf_test".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command_line: std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect(),
            created_unix_ms: u64::try_from(since_1970.as_millis()).unwrap_or(u64::MAX),
            full_topic: full_topic.to_owned(),
            external_info: external_info.clone(),
            build: Build::now(&spec.communicator),
            spec: Conditions::of(spec),
            topology: None,
            nodes: None,
        }
    }
}

/// The conditions of a run. Names and values are those of the options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Conditions {
    /// The middleware.
    pub communicator: String,
    /// Its version.
    pub middleware_version: String,
    /// The value of each of its settings, confirmed by every worker.
    pub settings: BTreeMap<String, String>,
    /// The message type.
    pub message: String,
    /// The performance_test version of its layout: 1.x or 2.x.
    pub message_layout: String,
    /// The size of a message as it is sent, time and id included, bytes.
    pub message_bytes: u64,
    /// The payload of a message type of unbounded size, bytes.
    pub unbounded_payload_bytes: u32,
    /// The topic as it was given.
    pub topic: String,
    /// The ROS 2 domain.
    pub domain_id: u32,
    /// Messages per second of each publisher; 0 is as fast as possible.
    pub rate_hz: u32,
    /// The beginnings of the periods of several publishers: `spread`, `aligned` or `random`.
    pub phase: String,
    /// Publishers of this run.
    pub publishers: u32,
    /// Subscriptions of this run.
    pub subscriptions: u32,
    /// Their processes and threads: INTER_PROCESS, INTER_THREAD or INTRA_THREAD.
    pub execution_strategy: String,
    /// The round-trip mode: None, Main, Relay, Both or Service; latencies of Main, Both and Service are round-trip
    /// times.
    pub roundtrip_mode: String,
    /// Publishers that each subscription waited for, those of other programs included.
    pub expected_publishers: u32,
    /// Subscriptions that each publisher waited for, those of other programs included.
    pub expected_subscriptions: u32,
    /// The timeout of that wait, s.
    pub match_timeout_s: u32,
    /// RELIABLE or BEST_EFFORT.
    pub reliability: String,
    /// VOLATILE or TRANSIENT_LOCAL.
    pub durability: String,
    /// KEEP_LAST or KEEP_ALL.
    pub history: String,
    /// Samples that KEEP_LAST keeps.
    pub history_depth: u32,
    /// The warm-up before the run, left out of all rows and statistics, s.
    pub warmup_s: u32,
    /// The length of the run, s; 0 is until interrupted.
    pub max_runtime_s: u32,
    /// The beginning of the run that is left out of all rows and statistics, s.
    pub ignore_s: u32,
    /// Whether messages are loaned and read in place instead of copied.
    pub zero_copy: bool,
    /// Whether messages are bytes without a type: time, id and payload.
    #[serde(default)]
    pub raw: bool,
    /// Whether the phases of a message's way were marked.
    #[serde(default)]
    pub phases: bool,
    /// The way in which messages reach subscriptions: pull, their threads take them, or push, threads of the middleware
    /// deliver them.
    pub delivery: String,
    /// The strategy by which subscriptions wait: spin, block or adaptive.
    pub wait: String,
    /// The part of each payload that is written and read: stamp (time and id), page (a byte of each page, too) or full
    /// (every byte).
    pub touch: String,
    /// The time for which each subscription, or on a round trip the relay or the server, is busy with each message, ns.
    #[serde(default)]
    pub work_ns: i64,
    /// The latency above which a sample is late, ns; null if none is. In a topology less for short periods.
    pub late_above_ns: Option<u64>,
    /// The latency above which a sample is too late instead of late, ns; null if none is. In a topology less for short
    /// periods.
    pub too_late_above_ns: Option<u64>,
    /// Real-time priority (SCHED_FIFO) of the threads in `rt_scope`; 0 is none.
    pub rt_priority: u32,
    /// The threads with `rt_priority` and `pins`: `process` (those of the endpoints, and the middleware's own, which
    /// run on all CPUs of `pins`) or `endpoints` (those of the endpoints alone).
    pub rt_scope: String,
    /// The CPUs that the workers may use; empty if all.
    pub rt_cpus: Vec<u32>,
    /// The CPUs to which the endpoints' threads are pinned in turn, publishers first; empty if they are not pinned.
    pub pins: Vec<u32>,
    /// Whether allocations were counted.
    pub check_memory: bool,
    /// The measured daemons of the middleware, by pid or name.
    pub daemons: Vec<String>,
    /// The daemons that the run started, each as its command.
    pub started_daemons: Vec<String>,
    /// Whether the CPUs were kept out of deep sleep.
    pub prevent_cpu_idle: bool,
    /// The executor that ran the nodes of a topology; null in other runs. The endpoints of a topology have their own
    /// messages, rates and QoS: `message` is the largest one, and `rate_hz` is 0.
    #[serde(default)]
    pub executor: Option<String>,
}

impl Conditions {
    /// Of a run.
    #[must_use]
    pub fn of(spec: &RunSpec) -> Conditions {
        let limit = |threshold: &Threshold| Some(threshold.limit_ns(spec.pace())).filter(|ns| *ns < u64::MAX);
        Conditions {
            communicator: spec.communicator.clone(),
            middleware_version: spec.middleware_version.clone(),
            settings: spec.settings.clone(),
            message: spec.message.name.clone(),
            message_layout: spec.message.layout.name().to_owned(),
            message_bytes: spec.message.bytes as u64,
            unbounded_payload_bytes: spec.message.unbounded_bytes,
            topic: spec.topic.clone(),
            domain_id: spec.domain_id,
            rate_hz: spec.rate_hz,
            phase: spec.phase.name().to_owned(),
            publishers: spec.publishers,
            subscriptions: spec.subscriptions,
            execution_strategy: spec.strategy.name().to_owned(),
            roundtrip_mode: spec.roundtrip.name().to_owned(),
            expected_publishers: spec.expected_publishers,
            expected_subscriptions: spec.expected_subscriptions,
            match_timeout_s: spec.match_timeout_s,
            reliability: spec.qos.reliability.name().to_owned(),
            durability: spec.qos.durability.name().to_owned(),
            history: spec.qos.history.name().to_owned(),
            history_depth: spec.qos.depth,
            warmup_s: spec.warmup_s,
            max_runtime_s: spec.max_runtime_s,
            ignore_s: spec.ignore_s,
            zero_copy: spec.zero_copy,
            raw: spec.raw,
            phases: spec.phases,
            delivery: spec.capabilities.delivery.name().to_owned(),
            wait: spec.wait.name().to_owned(),
            touch: spec.touch.name().to_owned(),
            work_ns: spec.work_ns,
            late_above_ns: limit(&spec.late),
            too_late_above_ns: limit(&spec.too_late),
            rt_priority: spec.rt_priority,
            rt_scope: spec.rt_scope.name().to_owned(),
            rt_cpus: spec.rt_cpus.clone(),
            pins: spec.pins.clone(),
            check_memory: spec.check_memory,
            daemons: spec.daemons.clone(),
            started_daemons: spec.daemon_commands.iter().map(|daemon| daemon.command.join(" ")).collect(),
            prevent_cpu_idle: spec.prevent_cpu_idle,
            executor: spec.executor.clone(),
        }
    }
}
