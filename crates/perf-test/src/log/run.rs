//! The run and its conditions in Gantry's own log.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Build;
use crate::log::external_info::ExternalInfo;
use crate::topology::Topology;
use perf_worker::run_spec::RunSpec;

/// One run of the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunEntry {
    /// The identifier of the run, a number of 16 hexadecimal digits.
    pub id: String,
    /// The program that measured.
    pub program: String,
    /// The version of the program.
    pub version: String,
    /// The command line.
    pub command_line: Vec<String>,
    /// The time at which the log was created, by the system's wall clock, ms since 1970-01-01 UTC.
    pub created_unix_ms: u64,
    /// The full name of the topic.
    pub full_topic: String,
    /// The environment variable APEX_PERFORMANCE_TEST.
    pub external_info: ExternalInfo,
    /// The builds of the programs, and the boot of the machine.
    #[serde(default)]
    pub build: Build,
    /// The conditions of the run, defaults included.
    pub spec: RunSpec,
    /// The resolved topology, as `perf_test list --topology NAME --json` prints it. The publishers, subscriptions and
    /// servers of the run are numbered in this order. The clients of a node come after its publishers and its
    /// subscriptions: each client is a publisher of requests and a subscription to their responses. Absent in runs
    /// without a topology.
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
    /// The processes of the nodes: `file` (one for each file), `node` (one for each node) or `one`.
    pub processes: String,
    /// The `msg_pass_by` that replaces the value in the topology files, for all endpoints; null if nothing replaces it.
    pub pass_by: Option<String>,
    /// The latencies above which messages are late and too late, in words.
    pub late: String,
}

/// The fields of a run that are not conditions of the measurement: notes, the script of the mock, and the fields that
/// follow from other fields.
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

/// The conditions of a run by their names in the log.
#[must_use]
pub fn conditions(spec: &RunSpec) -> Map<String, Value> {
    let Ok(Value::Object(mut fields)) = serde_json::to_value(spec) else { return Map::new() };
    NO_CONDITIONS.iter().for_each(|name| _ = fields.remove(*name));
    fields
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
    /// The entry of a run of this process.
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
