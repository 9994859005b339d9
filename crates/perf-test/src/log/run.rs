//! The run and its options in Gantry's own log.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Build;
use crate::log::external_info::ExternalInfo;
use crate::topology::Topology;
use perf_worker::run_spec::RunSpec;

/// One run of perf_test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunEntry {
    /// The identifier of the run, 16 hexadecimal digits.
    pub id: String,
    /// The name of the program that measured.
    pub program: String,
    /// The version of the program.
    pub version: String,
    /// The command line with which the program was started.
    pub command_line: Vec<String>,
    /// The time at which the log was created (wall clock), ms since 1970-01-01 UTC.
    pub created_unix_ms: u64,
    /// The full topic name.
    pub full_topic: String,
    /// The texts in the environment variable APEX_PERFORMANCE_TEST.
    pub external_info: ExternalInfo,
    /// The builds of the programs, and the boot of the machine.
    #[serde(default)]
    pub build: Build,
    /// The options of the run, including the default values of options that were not given.
    pub spec: RunSpec,
    /// The topology with all its defaults, as `perf_test list --topology NAME --json` prints it; absent in runs without
    /// a topology. The publishers, subscriptions and servers of the run are numbered in this order. The clients of a
    /// node come after its publishers and subscriptions: each client is a publisher of requests and a subscription to
    /// their responses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topology: Option<Map<String, Value>>,
    /// The options of the topology's nodes; absent in runs without a topology.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<NodesEntry>,
}

/// The options of a topology's nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NodesEntry {
    /// The division into processes: `file` (one for each file), `node` (one for each node) or `one`.
    pub processes: String,
    /// The value for all endpoints that replaces `msg_pass_by` of the topology files; null if the files' values apply.
    pub pass_by: Option<String>,
    /// The latencies above which messages are late and too late, as text.
    pub late: String,
}

/// The fields of a run that are no conditions of the measurement: notes, the script of the mock, and fields that follow
/// from other fields.
const NO_CONDITIONS: [&str; 8] = [
    "capabilities",
    "heading_notes",
    "message_content",
    "message_last_id",
    "message_type",
    "mock",
    "shared_memory",
    "tracking",
];

/// The conditions that influence no compared figure: names, limits of time, and the limits above which a message counts
/// as late.
pub const WITHOUT_EFFECT: [&str; 5] = ["topic", "domain_id", "match_timeout_s", "late_above_ns", "too_late_above_ns"];

/// The conditions of a run. The names are the names in the log.
#[must_use]
pub fn conditions(spec: &RunSpec) -> Map<String, Value> {
    let Ok(Value::Object(mut fields)) = serde_json::to_value(spec) else { return Map::new() };
    NO_CONDITIONS.iter().for_each(|name| _ = fields.remove(*name));
    fields
}

/// The topology as the log contains it.
#[must_use]
pub fn resolved(topology: &Topology) -> Option<Map<String, Value>> {
    match serde_json::to_value(topology) {
        Ok(Value::Object(topology)) => Some(topology),
        _ => None,
    }
}

impl RunEntry {
    /// Creates the entry of a run that starts now.
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
            spec: spec.clone(),
            topology: None,
            nodes: None,
        }
    }
}
