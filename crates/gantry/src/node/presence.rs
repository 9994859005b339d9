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

/// A node's place in the graph, which all its clones share.
#[derive(Debug)]
pub(crate) struct Presence {
    _record: NodeRecord,
    /// The graph's generation when somebody last waited for a change of it.
    seen_generation: AtomicU64,
}

impl Presence {
    /// Shows the node of that full name to the domain.
    pub(crate) fn new(participant: &Arc<Participant>, node: &str) -> Result<Presence> {
        let record = NodeRecord::new(participant.clone(), node)?;
        Ok(Presence { _record: record, seen_generation: AtomicU64::new(participant.graph_generation()?) })
    }

    /// Waits until the graph changed since the last call that returned `true`.
    pub(crate) fn wait_for_change(&self, participant: &Participant, timeout: Duration) -> Result<bool> {
        // Relaxed: a number, of which an older one costs a look.
        let seen = self.seen_generation.load(Relaxed);
        let changed = participant.wait_for_graph_change(seen, timeout)?;
        if changed {
            self.seen_generation.store(participant.graph_generation()?, Relaxed); // else it may have changed just now, unsaid
        }
        Ok(changed)
    }
}
