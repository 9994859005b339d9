//! The nodes of a domain that a ROS 2 `rmw` implementation made.

use crate::error::Result;
use gantry_shm::{EndpointDescription, Gid, GraphEntry, Participant};

/// The nodes whose descriptions name an `rmw` implementation.
pub(crate) struct RmwNodes(Vec<RmwNode>);

struct RmwNode {
    gid: Gid,
    name: String,
    implementation: String,
}

impl RmwNodes {
    /// Finds these nodes in a domain.
    pub(crate) fn read(participant: &Participant) -> Result<RmwNodes> {
        Ok(RmwNodes::among(&participant.endpoints_of("")?))
    }

    /// Finds these nodes among the entries of the graph.
    pub(crate) fn among(entries: &[GraphEntry]) -> RmwNodes {
        let node = |EndpointDescription { gid, node, .. }: &_, implementation| RmwNode {
            gid: *gid,
            name: String::clone(node),
            implementation,
        };
        let nodes = entries.iter().filter_map(|GraphEntry { description, .. }| {
            let implementation = description.node_details()?.rmw_implementation;
            (!implementation.is_empty()).then(|| node(description, implementation))
        });
        RmwNodes(nodes.collect())
    }

    /// The `rmw` implementation that made the endpoint's node.
    pub(crate) fn implementation(&self, endpoint: &EndpointDescription) -> Option<String> {
        let is_its = |node: &&RmwNode| node.name == endpoint.node && node.gid.is_of_same_process(&endpoint.gid);
        self.0.iter().find(is_its).map(|node| node.implementation.clone())
    }
}

/// Describes a node and its process in a sentence: "/talker in talker (pid 7)", "/talker (rmw_gantry) in python3 (pid
/// 8)".
pub(crate) fn node_and_process(node: &str, rmw_implementation: Option<&str>, process: &str) -> String {
    match rmw_implementation {
        Some(implementation) => format!("{node} ({implementation}) in {process}"),
        None => format!("{node} in {process}"),
    }
}
