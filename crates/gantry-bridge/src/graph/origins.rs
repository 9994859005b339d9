//! The origins of nodes that bridges show in the domain.

use super::origin::Origin;
use gantry::{BRIDGE_NODE, Gid};
use gantry_shm::EndpointDescription;
use std::sync::Arc;

/// The origins of nodes that bridges brought, and the ids of all bridges.
#[derive(Default)]
pub struct Origins {
    /// For each origin, the GID of its graph record and the name of its node.
    by_node: Vec<(Gid, String, Origin)>,
    /// The origins that other bridges show, each with the network from which the node came.
    pub brought: Vec<(Origin, String)>,
    /// The ids of all bridges of the domain.
    pub bridges: Vec<u64>,
}

impl Origins {
    /// Collects the origins in these graph entries. `own` is the GID of any entity of the bridge.
    pub fn read(entries: &[Arc<EndpointDescription>], own: Gid) -> Origins {
        let mut origins = Origins::default();
        for entry in entries {
            let Some(origin) = Origin::from_topic(&entry.topic) else { continue };
            if entry.node.starts_with(BRIDGE_NODE) {
                origins.bridges.extend(origin.path);
            } else if !entry.gid.is_of_same_process(&own) {
                let is_its = |other: &&Arc<EndpointDescription>| {
                    other.node.starts_with(BRIDGE_NODE) && other.gid.is_of_same_process(&entry.gid)
                };
                let bridge = entries.iter().find(is_its).map(|bridge| bridge.node.as_str()).unwrap_or_default();
                let network = bridge.strip_prefix(BRIDGE_NODE).unwrap_or_default().to_owned();
                origins.brought.push((origin.clone(), network));
                origins.by_node.push((entry.gid, entry.node.clone(), origin));
            }
        }
        origins
    }

    /// Returns the origin of a node that a bridge brought.
    pub fn origin(&self, node: &EndpointDescription) -> Option<Origin> {
        let is_its = |(gid, name, _): &&(Gid, String, Origin)| gid.is_of_same_process(&node.gid) && *name == node.node;
        self.by_node.iter().find(is_its).map(|(.., origin)| origin.clone())
    }
}
