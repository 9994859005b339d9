//! The list of a node's callbacks, and the executors that run them.
//!
//! A node keeps its callbacks. The node's executor runs them, except callbacks of groups that were added to another
//! executor. Invariant: at most one executor runs a callback.

use super::{Callback, any_callback::AnyCallback, group::Group, typed_callback::TypedCallback};
use crate::wait::{TakeSource, lock};
use std::{
    any::Any,
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicU64, Ordering::*},
    },
    task::Waker,
};

/// A handle to a callback that was added to a node. The node keeps the callback, so dropping the handle does not remove
/// the callback. The closure of another callback of the node may own the handle.
#[derive(Clone)]
pub struct CallbackHandle(Weak<Callback>);

/// The callbacks of a node.
#[derive(Default)]
pub(crate) struct Callbacks {
    /// The node's full name.
    pub(super) node_name: String,
    list: Mutex<List>,
    /// The number of changes of `list`.
    version: AtomicU64,
}

#[derive(Default)]
struct List {
    callbacks: Vec<Arc<Callback>>,
    /// The waker of the executor to which the node was added.
    executor: Option<Waker>,
    /// The groups that were added to an executor without their node, each with that executor's waker. If a group has
    /// several entries, the last entry counts.
    groups: Vec<(Arc<Group>, Waker)>,
}

impl List {
    /// The callbacks that the node's executor runs.
    fn node_callbacks(&self) -> impl Iterator<Item = &Arc<Callback>> {
        self.callbacks
            .iter()
            .filter(|callback| callback.group.is_added_with_node() && self.executor_of(&callback.group).is_none())
    }

    fn group_callbacks(&self, group: &Arc<Group>) -> impl Iterator<Item = &Arc<Callback>> {
        self.callbacks.iter().filter(|callback| Arc::ptr_eq(&callback.group, group))
    }

    /// The waker of the executor to which the group was added without its node.
    fn executor_of(&self, group: &Arc<Group>) -> Option<&Waker> {
        self.groups.iter().rev().find(|(other, _)| Arc::ptr_eq(other, group)).map(|(_, executor)| executor)
    }
}

impl CallbackHandle {
    /// Passes the callback's source to the closure `with`. `W` is the type of the source, as in the parameters of the
    /// callback's closure. For example, another callback can send requests through the [`Client`](crate::Client) whose
    /// responses this callback gets. Returns `None` if the callback was removed, its node is gone, or its source is not
    /// a `W`.
    ///
    /// The callback and `with` exclude each other: this method blocks while the callback runs, and the callback does
    /// not run before `with` returns. A callback that calls this method on its own handle deadlocks; it has the source
    /// as an argument instead.
    ///
    /// Two callbacks that may run at the same time and call this method on each other's handle also deadlock. Put both
    /// into one mutually exclusive group, or call the method in one direction only.
    ///
    /// # Real-time
    /// Takes the callback's lock, which an executor holds while the callback runs.
    pub fn with_source<W: TakeSource + 'static, R>(&self, with: impl FnOnce(&mut W) -> R) -> Option<R> {
        let (mut with, mut result) = (Some(with), None);
        self.visit(&mut |source| result = source.downcast_mut().zip(with.take()).map(|(source, with)| with(source)));
        result
    }

    /// Passes the source to the visitor as `dyn Any`, so that this code is compiled once for all types.
    fn visit(&self, visitor: &mut dyn FnMut(&mut dyn Any)) {
        let Some(callback) = self.0.upgrade() else { return };
        visitor(callback.lock().source());
        drop(callback); // dropped without a lock: if it is the last reference, the drop runs user code
    }

    /// Removes the callback and drops its closure and its source. If the callback runs now, they are dropped at the end
    /// of the run, otherwise before this method returns.
    pub fn remove(self) {
        let Some(callback) = self.0.upgrade() else { return };
        if let Some(node) = callback.node.upgrade() {
            node.change(|list| list.callbacks.retain(|other| !Arc::ptr_eq(other, &callback)));
        }
        callback.remove();
    }
}

impl Callbacks {
    /// Makes the empty list of callbacks of the node with this full name.
    pub(crate) fn new(node_name: String) -> Callbacks {
        Callbacks { node_name, ..Callbacks::default() }
    }

    /// Adds a callback to a group.
    pub(crate) fn add<W>(
        self: &Arc<Self>,
        group: &Arc<Group>,
        waitable: W,
        callback: impl FnMut(&mut W, W::Taken) + Send + 'static,
    ) -> CallbackHandle
    where
        W: TakeSource + 'static,
        W::Taken: Send,
    {
        self.add_any(group, Box::new(TypedCallback::new(waitable, callback)))
    }

    /// Adds a callback whose source type is erased, so that this code is compiled once for all types.
    fn add_any(self: &Arc<Self>, group: &Arc<Group>, callback: Box<dyn AnyCallback>) -> CallbackHandle {
        let callback = Arc::new(Callback::new(Arc::downgrade(self), group.clone(), callback));
        self.change(|list| list.callbacks.push(callback.clone()));
        CallbackHandle(Arc::downgrade(&callback))
    }

    /// Changes the list, and wakes the executors so that they read the list again.
    fn change<R>(&self, change: impl FnOnce(&mut List) -> R) -> R {
        let mut list = lock(&self.list);
        let result = change(&mut list);
        self.version.fetch_add(1, Release);
        let groups = list.groups.iter().map(|(_, executor)| executor);
        let executors: Vec<_> = list.executor.iter().chain(groups).cloned().collect();
        drop(list);
        executors.into_iter().for_each(Waker::wake);
        result
    }

    /// Makes the executors read the list again, because the properties of a group have changed.
    pub(crate) fn touch(&self) {
        self.change(|_| ());
    }

    /// The number of changes of the list of callbacks.
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Acquire)
    }

    /// The callbacks that the node's executor runs, in the order in which they were added.
    pub(crate) fn node_callbacks(&self) -> Vec<Arc<Callback>> {
        lock(&self.list).node_callbacks().cloned().collect()
    }

    /// The callbacks of a group that was added to `executor` without its node, in the order in which they were added.
    pub(crate) fn group_callbacks(&self, group: &Arc<Group>, executor: &Waker) -> Vec<Arc<Callback>> {
        let list = lock(&self.list);
        if !list.executor_of(group).is_some_and(|other| is_same(other, executor)) {
            return Vec::new();
        }
        list.group_callbacks(group).cloned().collect()
    }

    /// Removes all callbacks.
    pub(crate) fn clear(&self) {
        let removed = self.change(|list| std::mem::take(&mut list.callbacks));
        drop(removed); // dropped after the unlock: a callback may own the node
    }

    /// Whether a group has callbacks.
    pub(crate) fn has_any_of(&self, group: &Arc<Group>) -> bool {
        lock(&self.list).group_callbacks(group).next().is_some()
    }

    /// Assigns the node to an executor, which is woken when the list of callbacks changes. Returns `false` if another
    /// executor already has the node.
    pub(crate) fn attach_executor(&self, executor: &Waker) -> bool {
        let mut list = lock(&self.list);
        let is_free = list.executor.is_none();
        if is_free {
            list.executor = Some(executor.clone());
        }
        is_free
    }

    /// Ends the assignment of the node to its executor.
    pub(crate) fn detach_executor(&self) {
        lock(&self.list).executor = None;
    }

    /// Assigns a group to an executor, which is woken when the list of callbacks changes. `parent` is the executor that
    /// has the group and passes it on to `executor`. Returns `false` if any executor other than `parent` already has
    /// the group.
    pub(crate) fn attach_group(&self, group: &Arc<Group>, executor: &Waker, parent: Option<&Waker>) -> bool {
        self.change(|list| {
            // A group that is no longer added with its node stays with the node's executor until that executor has
            // released the group's callbacks.
            let has_still = || list.group_callbacks(group).any(|callback| callback.is_registered());
            let node_executor = list.executor.as_ref().filter(|_| group.is_added_with_node() || has_still());
            let holder = list.executor_of(group).or(node_executor);
            let is_free = holder.is_none_or(|holder| parent.is_some_and(|parent| is_same(holder, parent)));
            if is_free {
                list.groups.push((group.clone(), executor.clone()));
            }
            is_free
        })
    }

    /// Ends the assignment of a group to an executor. Afterwards, the executor that passed the group on runs it, or
    /// else the node's executor.
    pub(crate) fn detach_group(&self, group: &Arc<Group>, executor: &Waker) {
        self.change(|list| {
            list.groups.retain(|(other, waker)| !(Arc::ptr_eq(other, group) && is_same(waker, executor)));
        });
    }
}

/// Whether two wakers wake the same executor.
fn is_same(one: &Waker, other: &Waker) -> bool {
    std::ptr::eq(one.data(), other.data())
}

impl std::fmt::Debug for CallbackHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CallbackHandle(removed: {})", self.0.upgrade().is_none_or(|callback| callback.is_removed()))
    }
}
