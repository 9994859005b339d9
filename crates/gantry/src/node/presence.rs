//! A node's entry in the graph.

use super::other_hosts::warn_of_missing_bridge;
use crate::{error::Result, log};
use gantry_shm::{GraphRecord, NodeDetails, Participant};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

/// A node's entry in the graph. The node's clones and endpoints share it.
#[derive(Debug)]
pub(crate) struct Presence {
    participant: Arc<Participant>,
    _record: GraphRecord,
    /// The graph's generation (a counter of joins and leaves) at the end of the last wait for a change of the graph.
    seen_generation: AtomicU64,
}

impl Presence {
    /// Adds the node with this full name to the graph.
    pub(crate) fn new(participant: Arc<Participant>, node: &str, details: NodeDetails) -> Result<Presence> {
        let record = GraphRecord::node(participant.clone(), node, details)?;
        warn_of_namesake(&participant, node);
        warn_of_missing_bridge(&participant, node);
        let seen_generation = AtomicU64::new(participant.graph_generation()?);
        Ok(Presence { participant, _record: record, seen_generation })
    }

    pub(crate) fn participant(&self) -> &Arc<Participant> {
        &self.participant
    }

    /// Waits until the graph has changed since the last call that returned `true`.
    pub(crate) fn wait_for_change(&self, timeout: Duration) -> Result<bool> {
        // Relaxed: no other data depends on this number; an old value costs one wait that returns at once.
        let seen = self.seen_generation.load(Relaxed);
        let changed = self.participant.wait_for_graph_change(seen, timeout)?;
        if changed {
            // The generation is read again after the wait. The caller reads the graph later and so sees all changes up
            // to this generation; a later change raises the generation again.
            self.seen_generation.store(self.participant.graph_generation()?, Relaxed);
        }
        Ok(changed)
    }
}

/// Warns if another node has this full name. The search comes after this node was added, so of two nodes that start
/// at the same time, at least one finds the other.
fn warn_of_namesake(participant: &Participant, node: &str) {
    let Ok(namesakes) = participant.nodes_of_name(node) else { return };
    if namesakes.len() > 1 {
        let processes: std::collections::BTreeSet<&str> =
            namesakes.iter().map(|entry| entry.process.as_str()).collect();
        let processes = processes.into_iter().collect::<Vec<_>>().join(" and ");
        let domain_id = participant.domain_id();
        log::warn(
            node,
            format_args!(
                "two nodes of domain {domain_id} have the name {node} (in {processes}); give one of them another name or \
                 namespace, for example by --ros-args -r __node:=NAME"
            ),
        );
    }
}
