//! Groups of callbacks, and the list of a node's callbacks.
//!
//! A node keeps its callbacks; the executor that has the node runs them.

use super::{
    Callback,
    group::{CallbackGroupType, Group},
};
use crate::wait::{TakeSource, lock};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering::*},
    },
    task::Waker,
};

/// A group of a node's callbacks.
#[derive(Clone)]
pub struct CallbackGroup {
    callbacks: Arc<Callbacks>,
    group: Arc<Group>,
}

/// A callback that was added to a node. Dropping the handle does not remove the callback.
#[derive(Clone)]
pub struct CallbackHandle {
    callbacks: Arc<Callbacks>,
    callback: Arc<Callback>,
}

/// The callbacks of a node.
#[derive(Default)]
pub(crate) struct Callbacks {
    list: Mutex<List>,
    /// The number of changes of the list.
    version: AtomicU64,
}

#[derive(Default)]
struct List {
    callbacks: Vec<Arc<Callback>>,
    /// Wakes the executor that runs the callbacks.
    executor: Option<Waker>,
}

impl CallbackGroup {
    pub(crate) fn new(callbacks: Arc<Callbacks>, kind: CallbackGroupType) -> CallbackGroup {
        let group = Group { kind, priority: 0, is_busy: AtomicBool::new(false) };
        CallbackGroup { callbacks, group: Arc::new(group) }
    }

    /// A group of the same kind whose callbacks an [`EventsExecutor`](crate::EventsExecutor) runs before those of lower
    /// priority. The default is 0.
    #[must_use]
    pub fn with_priority(self, priority: i32) -> CallbackGroup {
        let group = Group { kind: self.group.kind, priority, is_busy: AtomicBool::new(false) };
        CallbackGroup { group: Arc::new(group), ..self }
    }

    /// Gives `waitable`, which must be of the same domain, to the node's executor. The executor calls `callback` with
    /// the waitable and each value taken from it. A callback that owns a clone of its node keeps the node for ever: give it
    /// publishers and clients, or a [`WeakNode`](crate::Node::downgrade).
    pub fn add_callback<W>(
        &self,
        waitable: W,
        callback: impl FnMut(&mut W, W::Taken) + Send + 'static,
    ) -> CallbackHandle
    where
        W: TakeSource + 'static,
        W::Taken: Send,
    {
        let callback = Arc::new(Callback::new(self.group.clone(), waitable, callback));
        self.callbacks.change(|callbacks| callbacks.push(callback.clone()));
        CallbackHandle { callbacks: self.callbacks.clone(), callback }
    }
}

impl CallbackHandle {
    /// Removes the callback and its source from the node. A run that is under way ends normally.
    pub fn remove(self) {
        self.callback.remove();
        self.callbacks.change(|callbacks| callbacks.retain(|callback| !Arc::ptr_eq(callback, &self.callback)));
    }
}

impl Callbacks {
    fn change(&self, change: impl FnOnce(&mut Vec<Arc<Callback>>)) {
        let mut list = lock(&self.list);
        change(&mut list.callbacks);
        self.version.fetch_add(1, Release);
        let executor = list.executor.clone();
        drop(list);
        executor.into_iter().for_each(Waker::wake);
    }

    /// The number of changes of the list.
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Acquire)
    }

    /// The callbacks in the order in which they were added.
    pub(crate) fn all(&self) -> Vec<Arc<Callback>> {
        lock(&self.list).callbacks.clone()
    }

    /// Removes all callbacks.
    pub(crate) fn clear(&self) {
        let mut removed = Vec::new(); // dropped after the lock: a callback may own the node
        self.change(|callbacks| removed.append(callbacks));
    }

    /// Gives the callbacks to an executor, which is woken when the list changes; `false` if another executor has them.
    pub(crate) fn attach_executor(&self, executor: &Waker) -> bool {
        let mut list = lock(&self.list);
        let is_free = list.executor.is_none();
        if is_free {
            list.executor = Some(executor.clone());
        }
        is_free
    }

    /// Takes the callbacks from their executor.
    pub(crate) fn detach_executor(&self) {
        lock(&self.list).executor = None;
    }
}

impl std::fmt::Debug for CallbackGroup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CallbackGroup({:?}, priority {})", self.group.kind, self.group.priority)
    }
}

impl std::fmt::Debug for CallbackHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CallbackHandle(removed: {})", self.callback.is_removed())
    }
}
