//! The guard conditions of nodes, which are triggered when the graph changes.
//!
//! The graph is watched from the first wait for one of these guard conditions on: the watch wakes this process at
//! each change of the domain.

use super::wake_up::Flag;
use crate::lock::lock;
use gantry::{GraphChanges, Waitable, WeakNode};
use rmw_abi::failure::Result;
use std::{
    sync::{Arc, Mutex, Weak},
    task::Wake,
};

/// The watch of the graph for the nodes of one context.
#[derive(Default)]
pub struct GraphNews {
    /// Whether the graph is watched; the lock is held while the watch begins or ends.
    is_watched: Mutex<bool>,
    changes: Mutex<Option<GraphChanges>>,
    /// The flags of the nodes' guard conditions.
    flags: Mutex<Vec<Weak<Flag>>>,
}

impl GraphNews {
    /// Adds the flag of a node's guard condition: changes of the graph set this flag.
    pub fn add(&self, flag: &Arc<Flag>) {
        lock(&self.flags).push(Arc::downgrade(flag));
    }

    /// Removes the flag that [`GraphNews::add`] added. The watch ends when the last flag is removed.
    pub fn remove(&self, flag: &Arc<Flag>) {
        let mut is_watched = lock(&self.is_watched);
        let mut flags = lock(&self.flags);
        flags.retain(|other| !std::ptr::eq(other.as_ptr(), Arc::as_ptr(flag)));
        let is_last = flags.is_empty();
        drop(flags);
        if is_last {
            *is_watched = false;
            let changes = lock(&self.changes).take();
            drop(changes); // not under the lock, which its waker takes
        }
    }

    /// Watches the graph from now on, if it is not watched yet. When the watch begins, it triggers all guard
    /// conditions, because of earlier changes.
    pub fn watch(self: &Arc<GraphNews>, node: &WeakNode) -> Result<()> {
        let mut is_watched = lock(&self.is_watched);
        if !*is_watched && let Some(node) = node.upgrade() {
            // The lock of the changes is not held here: the waker may be called at once, and takes the lock.
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
            // This call re-arms the waker for the next change. It fails only in a forked child, which has no
            // control thread.
            let _ = changes.take();
        }
        let flags: Vec<_> = lock(&self.flags).iter().filter_map(Weak::upgrade).collect();
        flags.iter().for_each(|flag| flag.set());
    }
}
