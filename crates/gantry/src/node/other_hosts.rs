//! Nodes of other hosts: the environment variables that request them, and the bridges that bring them.

use crate::{error::Result, log};
use gantry_shm::Participant;
use std::{env, sync::Once};

/// The prefix of the full names of bridge nodes. The name of the network follows it.
pub const BRIDGE_NODE: &str = "/_gantry_bridge_";

/// The ROS 2 environment variable that requests nodes of other hosts, with its value:
/// `ROS_AUTOMATIC_DISCOVERY_RANGE=SUBNET`, or `ROS_STATIC_PEERS` with its list of hosts. If neither is set, the result
/// is `None`, although ROS 2's default range is `SUBNET`, because most users did not choose that default on purpose.
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

/// Warns at the first node of a process if the environment requests nodes of other hosts and the domain has no bridge.
/// Hidden nodes (whose name begins with `_`) are ignored: bridges and the `ros2` commands have such nodes.
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
