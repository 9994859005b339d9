//! The guard conditions of nodes, which changes of the graph trigger.
//!
//! The graph is watched from the first wait for one of them on: each watch wakes this process at each change of the
//! domain.

use super::guard_condition::GuardCondition;
use crate::{failure::Result, lock::lock};
use gantry::{GraphChanges, Waitable, WeakNode};
use std::{
    sync::{Arc, Mutex, Weak},
    task::Wake,
};

/// The watch of the nodes of one context.
#[derive(Default)]
pub struct GraphNews {
    /// Whether the graph is watched; held while that changes.
    is_watched: Mutex<bool>,
    changes: Mutex<Option<GraphChanges>>,
    guard_conditions: Mutex<Vec<Weak<GuardCondition>>>,
}

impl GraphNews {
    /// Has the guard condition of a node triggered by changes of the graph.
    pub fn add(&self, guard_condition: &Arc<GuardCondition>) {
        lock(&self.guard_conditions).push(Arc::downgrade(guard_condition));
    }

    /// The counterpart of [`GraphNews::add`]; with the last one, the watch ends.
    pub fn remove(&self, guard_condition: &GuardCondition) {
        let mut is_watched = lock(&self.is_watched);
        let mut guard_conditions = lock(&self.guard_conditions);
        guard_conditions.retain(|other| !std::ptr::eq(other.as_ptr(), guard_condition));
        let is_last = guard_conditions.is_empty();
        drop(guard_conditions);
        if is_last {
            *is_watched = false;
            let changes = lock(&self.changes).take();
            drop(changes); // not under the lock, which its waker takes
        }
    }

    /// Watches the graph from now on, if it is not watched yet. Earlier changes are news for all guard conditions.
    pub fn watch(self: &Arc<GraphNews>, node: &WeakNode) -> Result<()> {
        let mut is_watched = lock(&self.is_watched);
        if !*is_watched && let Some(node) = node.upgrade() {
            // Not under the lock of the changes: the waker may be called at once, and takes it.
            let mut changes = node.graph_changes()?;
            changes.set_waker(Some(self.clone().into()));
            *lock(&self.changes) = Some(changes);
            *is_watched = true;
            drop(is_watched);
            self.clone().wake();
        }
        Ok(())
    }
}

impl Wake for GraphNews {
    fn wake(self: Arc<GraphNews>) {
        if let Some(changes) = &mut *lock(&self.changes) {
            // So that the next news wake again. It fails in a forked child only, which has no such thread.
            let _ = changes.take();
        }
        let guard_conditions: Vec<_> = lock(&self.guard_conditions).iter().filter_map(Weak::upgrade).collect();
        guard_conditions.iter().for_each(|guard_condition| guard_condition.flag.set());
    }
}
