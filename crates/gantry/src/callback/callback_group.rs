//! Groups of callbacks: which of them may run at the same time, and what is more urgent.
//!
//! Made by nodes; run by executors. A node keeps its callbacks; an executor that has the node runs them.

use super::{
    Callback,
    group::{CallbackGroupType, Group},
};
use crate::wait::TakeSource;
use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::*},
    },
    task::Waker,
};

/// A group of a node's callbacks.
///
/// # Real-time
/// Not for real-time threads: adding to it locks and allocates.
#[derive(Clone)]
pub struct CallbackGroup {
    callbacks: Arc<Callbacks>,
    group: Arc<Group>,
}

/// A callback that was added; dropping the handle changes nothing.
///
/// # Real-time
/// Not for real-time threads: removing it locks and allocates.
#[derive(Clone)]
pub struct CallbackHandle {
    callbacks: Arc<Callbacks>,
    callback: Arc<Callback>,
}

/// The callbacks of a node.
#[derive(Default)]
pub(crate) struct Callbacks {
    list: Mutex<List>,
    /// Counts changes of the list.
    version: AtomicU64,
}

#[derive(Default)]
struct List {
    callbacks: Vec<Arc<Callback>>,
    /// Of the executor that runs them.
    executor: Option<Waker>,
}

impl CallbackGroup {
    pub(crate) fn new(callbacks: Arc<Callbacks>, kind: CallbackGroupType) -> CallbackGroup {
        let group = Group { kind, priority: 0, is_busy: AtomicBool::new(false) };
        CallbackGroup { callbacks, group: Arc::new(group) }
    }

    /// A group of the same kind whose callbacks an [`EventsExecutor`](crate::EventsExecutor) runs before those of lower priority; 0
    /// if it is not said.
    #[must_use]
    pub fn with_priority(self, priority: i32) -> CallbackGroup {
        let group = Group { kind: self.group.kind, priority, is_busy: AtomicBool::new(false) };
        CallbackGroup { group: Arc::new(group), ..self }
    }

    /// Gives `waitable`, which is of the same domain, to the node's executor, which calls `callback` with it and whatever is taken
    /// from it. A callback that owns a clone of its node keeps the node for ever; give it publishers and clients.
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
    /// Takes the callback, and what it waits for, away from its node. If it runs just now it comes to its end.
    pub fn remove(self) {
        self.callback.remove();
        self.callbacks.change(|callbacks| callbacks.retain(|callback| !Arc::ptr_eq(callback, &self.callback)));
    }
}

impl Callbacks {
    fn list(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Arc<Callback>>)) {
        let mut list = self.list();
        change(&mut list.callbacks);
        self.version.fetch_add(1, Release);
        let executor = list.executor.clone();
        drop(list);
        executor.into_iter().for_each(Waker::wake);
    }

    /// Counts changes.
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Acquire)
    }

    /// The callbacks there are, in the order in which they were added.
    pub(crate) fn all(&self) -> Vec<Arc<Callback>> {
        self.list().callbacks.clone()
    }

    /// Gives them to an executor, which is woken when there are others; `false` if they are another's.
    pub(crate) fn give_to(&self, executor: &Waker) -> bool {
        let mut list = self.list();
        let is_free = list.executor.is_none();
        if is_free {
            list.executor = Some(executor.clone());
        }
        is_free
    }

    /// Takes them back.
    pub(crate) fn take_back(&self) {
        self.list().executor = None;
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
