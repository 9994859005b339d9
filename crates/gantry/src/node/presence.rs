//! A node's record in the graph.

use crate::error::Result;
use gantry_shm::{NodeRecord, Participant};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

/// A node's record in the graph, which the node's clones and endpoints share.
#[derive(Debug)]
pub(crate) struct Presence {
    _record: NodeRecord,
    /// The graph's generation at the end of the last wait for a change.
    seen_generation: AtomicU64,
}

impl Presence {
    /// Adds the node of that full name to the graph.
    pub(crate) fn new(participant: &Arc<Participant>, node: &str) -> Result<Presence> {
        let record = NodeRecord::new(participant.clone(), node)?;
        Ok(Presence { _record: record, seen_generation: AtomicU64::new(participant.graph_generation()?) })
    }

    /// Waits until the graph changed since the last call that returned `true`.
    pub(crate) fn wait_for_change(&self, participant: &Participant, timeout: Duration) -> Result<bool> {
        // Relaxed: a number of its own; an old one costs one wait that returns at once.
        let seen = self.seen_generation.load(Relaxed);
        let changed = participant.wait_for_graph_change(seen, timeout)?;
        if changed {
            self.seen_generation.store(participant.graph_generation()?, Relaxed); // only then: it may have changed just after the wait, which the next wait must report
        }
        Ok(changed)
    }
}
