//! The topologies that come with the tool, by name.
//!
//! Source: irobot-ros/ros2-performance (`irobot_benchmark/topology`) and ros-realtime/reference-system
//! (`autoware_reference_system`) have the nodes, topics and rates.

use super::{Topology, process::Publisher};

/// A topology that comes with the tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The name of the topology.
    pub name: String,
    /// A phrase that describes the topology, without a full stop.
    pub description: String,
}

/// The topology of a robot: its name, the text of its file, and its description.
type NamedTopology = (&'static str, &'static str, &'static str);

const ROBOTS: [NamedTopology; 5] = [
    ("sierra_nevada", include_str!("../../topologies/sierra_nevada.json"), "iRobot's light system, on one executor"),
    ("cedar", include_str!("../../topologies/cedar.json"), "iRobot's light system with an executor for each node"),
    ("mont_blanc", include_str!("../../topologies/mont_blanc.json"), "iRobot's heavy system, on one executor"),
    (
        "white_mountain",
        include_str!("../../topologies/white_mountain.json"),
        "iRobot's heavy system with an executor for each node",
    ),
    (
        "autoware",
        include_str!("../../topologies/autoware.json"),
        "the graph of the Autoware reference system, in which messages trigger messages",
    ),
];

/// The robots for which there is also a topology with a node for debugging.
const DEBUGGED: [&str; 2] = ["sierra_nevada", "mont_blanc"];
const DEBUG_RELIABILITIES: [&str; 2] = ["reliable", "best_effort"];

/// The small topologies: their message size, and the period in ms.
const SIZES: [(&str, u32); 4] = [("10b", 1), ("100kb", 100), ("1mb", 50), ("4mb", 100)];
/// The small topologies that exist for each message size: the prefix of the name, the publisher's `msg_pass_by` (`None`
/// without a publisher), whether there is a subscription, and the description.
const SMALL: [(&str, Option<&str>, bool, &str); 5] = [
    ("pub_sub_", Some("unique_ptr"), true, "a publisher and a subscription in one process"),
    ("pub_sub_loaned_", Some("loaned_msg"), true, "the same with loaned messages"),
    ("pub_", Some("shared_ptr"), false, "a publisher; add the process sub_SIZE"),
    ("pub_loaned_", Some("loaned_msg"), false, "the same with loaned messages; add the process sub_SIZE"),
    ("sub_", None, true, "a subscription; add the process pub_SIZE or pub_loaned_SIZE"),
];

const SERVICE: &str = "cli_srv_10b";
const SERVICE_TEXT: &str = r#"{ "nodes": [
  { "node_name": "server_node", "servers": [{ "service_name": "service", "srv_type": "stamped10b" }] },
  { "node_name": "client_node", "clients": [{ "service_name": "service", "srv_type": "stamped10b", "freq_hz": 1000 }] }
] }"#;

/// All topologies that come with the tool.
#[must_use]
pub fn all() -> Vec<Named> {
    let named = |name: String, description: String| Named { name, description };
    let robots = ROBOTS.iter().map(|(name, _, description)| named((*name).to_owned(), (*description).to_owned()));
    let debugging = DEBUGGED.iter().flat_map(|robot| DEBUG_RELIABILITIES.map(|reliability| (robot, reliability)));
    let debugging = debugging.map(|(robot, reliability)| {
        let description = format!("a node that subscribes to all topics of {robot}; add the process {robot}");
        named(debug_name(robot, reliability), description)
    });
    let small = SMALL.iter().flat_map(|(prefix, .., description)| {
        SIZES.iter().map(move |(size, _)| named(format!("{prefix}{size}"), description.replace("SIZE", size)))
    });
    let service = named(SERVICE.to_owned(), "a client and a server in one process".to_owned());
    robots.chain(debugging).chain(small).chain([service]).collect()
}

/// The text of the file of a topology; `None` if there is no such name.
#[must_use]
pub fn text(name: &str) -> Option<String> {
    if name == SERVICE {
        return Some(SERVICE_TEXT.to_owned());
    }
    let robot = ROBOTS.iter().find(|(robot, ..)| *robot == name).map(|(_, text, _)| (*text).to_owned());
    robot.or_else(|| small_text(name)).or_else(|| debug_text(name))
}

/// The text of a small topology's file; `None` if there is no such name.
fn small_text(name: &str) -> Option<String> {
    let (size, period_ms, pass_by, has_subscription) =
        SMALL.iter().find_map(|(prefix, pass_by, has_subscription, _)| {
            let (size, period_ms) = SIZES.iter().find(|(size, _)| name.strip_prefix(prefix) == Some(*size))?;
            Some((size, period_ms, pass_by, *has_subscription))
        })?;
    let publisher = pass_by.map(|pass_by| {
        format!(
            r#"{{ "node_name": "pub_node", "publishers": [{{ "topic_name": "test", "msg_type": "stamped{size}",
                 "period_ms": {period_ms}, "msg_pass_by": "{pass_by}" }}] }}"#
        )
    });
    let subscription = has_subscription.then(|| {
        format!(
            r#"{{ "node_name": "sub_node", "subscribers": [{{ "topic_name": "test", "msg_type": "stamped{size}" }}] }}"#
        )
    });
    let nodes: Vec<String> = publisher.into_iter().chain(subscription).collect();
    Some(format!("{{ \"nodes\": [ {} ] }}", nodes.join(", ")))
}

fn debug_name(robot: &str, reliability: &str) -> String {
    format!("debug_{robot}_{reliability}")
}

/// The text of a file with one node that subscribes to all topics of a robot.
fn debug_text(name: &str) -> Option<String> {
    let (robot, reliability) = DEBUGGED
        .iter()
        .flat_map(|robot| DEBUG_RELIABILITIES.map(|reliability| (*robot, reliability)))
        .find(|(robot, reliability)| debug_name(robot, reliability) == name)?;
    let system = Topology::read_named(robot)?;
    let subscription = |publisher: &Publisher| {
        let (topic, message) = (&publisher.topic, &publisher.payload.message.name);
        format!(r#"{{ "topic_name": "{topic}", "msg_type": "{message}", "qos_reliability": "{reliability}" }}"#)
    };
    let publishers = system.processes.iter().flat_map(|process| &process.nodes).flat_map(|node| &node.publishers);
    let subscriptions: Vec<String> = publishers.map(subscription).collect();
    let subscriptions = subscriptions.join(", ");
    Some(format!(r#"{{ "nodes": [ {{ "node_name": "debug_node", "subscribers": [ {subscriptions} ] }} ] }}"#))
}
