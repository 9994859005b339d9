//! Nodes of other hosts: the environment variable by which a user requests them, and the bridges that bring them.

use crate::{error::Result, log};
use gantry_shm::Participant;
use std::{env, sync::Once};

/// The beginning of the full names of bridges' nodes; the rest of the name is the name of the network.
pub const BRIDGE_NODE: &str = "/_gantry_bridge_";

/// ROS 2's environment variable by which a user requests nodes of other hosts, with its value
/// (`ROS_AUTOMATIC_DISCOVERY_RANGE=SUBNET`). The second such variable is `ROS_STATIC_PEERS`, the list of hosts. If
/// neither variable is set, the result is `None`, although ROS 2's default range is `SUBNET`: most users have never
/// chosen it.
#[must_use]
pub fn other_hosts_variable() -> Option<String> {
    let value = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let range = value("ROS_AUTOMATIC_DISCOVERY_RANGE");
    match range.as_deref() {
        Some("SUBNET") => Some("ROS_AUTOMATIC_DISCOVERY_RANGE=SUBNET".to_owned()),
        // With the range `OFF`, ROS 2 ignores the list of hosts.
        Some("OFF") => None,
        _ => value("ROS_STATIC_PEERS").map(|hosts| format!("ROS_STATIC_PEERS={hosts}")),
    }
}

/// Warns at the first node of a process if the environment requests nodes of other hosts and the domain has no
/// bridge. Hidden nodes do not count as the first node: bridges and `ros2`'s commands have such nodes.
pub(crate) fn warn_of_missing_bridge(participant: &Participant, node: &str) {
    static FIRST: Once = Once::new();
    if node.rsplit('/').next().is_some_and(|name| name.starts_with('_')) {
        return;
    }
    FIRST.call_once(|| {
        let Some(variable) = other_hosts_variable() else { return };
        if matches!(has_bridge(participant), Ok(false)) {
            let domain_id = participant.domain_id();
            log::warn(
                node,
                format_args!(
                    "{variable} asks for nodes of other hosts, and domain {domain_id} has no bridge to them yet: `gantry \
                     bridge zenoh --domain-id {domain_id}` starts one"
                ),
            );
        }
    });
}

fn has_bridge(participant: &Participant) -> Result<bool> {
    // The graph lists nodes as endpoints of the topic with the empty name.
    let nodes = participant.endpoints_of("")?;
    Ok(nodes.iter().any(|entry| entry.description.node.starts_with(BRIDGE_NODE)))
}
