//! The graph guard conditions of nodes: a change of the graph triggers them.
//!
//! The first wait for such a guard condition starts to watch the graph. Earlier would be wasteful: from then on, each
//! change in the domain wakes this process.

use super::wake_up::Flag;
use crate::lock::lock;
use gantry::{GraphChanges, Waitable, WeakNode};
use rmw_abi::failure::Result;
use std::{
    sync::{Arc, Mutex, Weak},
    task::Wake,
};

/// The watch of the graph, which the nodes of one context share.
#[derive(Default)]
pub struct GraphNews {
    /// True if the graph is watched. A thread that starts or ends the watch holds this lock meanwhile.
    is_watched: Mutex<bool>,
    changes: Mutex<Option<GraphChanges>>,
    /// The flags of the nodes' guard conditions.
    flags: Mutex<Vec<Weak<Flag>>>,
}

impl GraphNews {
    /// Adds the flag of a node's guard condition. Each change of the graph sets the flag.
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
            drop(changes); // without the lock: the waker takes the lock
        }
    }

    /// Starts to watch the graph if no watch runs yet. A new watch triggers all guard conditions once, because the
    /// graph may have changed before.
    pub fn watch(self: &Arc<GraphNews>, node: &WeakNode) -> Result<()> {
        let mut is_watched = lock(&self.is_watched);
        if !*is_watched && let Some(node) = node.upgrade() {
            // The lock of `changes` is free here, because `set_waker` may call the waker at once, and the waker takes
            // the lock.
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
            // `take` arms the waker for the next change. It fails only in a forked child, which has no control thread.
            let _ = changes.take();
        }
        let flags: Vec<_> = lock(&self.flags).iter().filter_map(Weak::upgrade).collect();
        flags.iter().for_each(|flag| flag.set());
    }
}
