//! The handle of an executor: the operations that other threads and callbacks may call while the executor spins.

use super::{
    members::{Member, Members},
    wake_signal::WakeSignal,
};
use crate::{
    error::Result,
    node::{CallbackGroup, Node},
};
use std::{sync::Arc, task::Waker};

/// A handle through which other threads and callbacks control an executor, also while it spins. Clones are handles to
/// the same executor. A handle does not keep the executor alive.
#[derive(Clone)]
pub struct ExecutorHandle {
    pub(super) signal: Arc<WakeSignal>,
    pub(super) members: Arc<Members>,
}

impl ExecutorHandle {
    /// Ends the current spin after the callbacks that run now. If the executor does not spin now, its next spin ends at
    /// once.
    ///
    /// # Real-time
    /// No allocation, one lock that is held for some nanoseconds, and at most one system call. A signal handler must
    /// not call this method: see [`init`](crate::init).
    pub fn cancel(&self) {
        self.signal.cancel();
    }

    /// Wakes the executor, so that it checks for work again; [`Executor::spin_until`](crate::Executor::spin_until)
    /// then also evaluates its condition.
    ///
    /// # Real-time
    /// As [`ExecutorHandle::cancel`].
    pub fn wake(&self) {
        self.signal.wake_executor();
    }

    /// A waker that has the effect of [`ExecutorHandle::wake`].
    #[must_use]
    pub fn waker(&self) -> Waker {
        self.signal.clone().into()
    }

    /// Whether the executor spins now.
    #[must_use]
    pub fn is_spinning(&self) -> bool {
        self.signal.is_spinning()
    }

    /// Adds a node as [`Executor::add_node`](crate::Executor::add_node) does. If the executor spins, it runs the node's
    /// callbacks at once.
    ///
    /// # Errors
    /// The errors of [`Executor::add_node`](crate::Executor::add_node).
    pub fn add_node(&self, node: &Node) -> Result<()> {
        self.add(Member::Node(node.clone()))
    }

    /// Removes a node as [`Executor::remove_node`](crate::Executor::remove_node) does. An executor that spins releases
    /// the node when it next looks for ready callbacks (at once if it sleeps), after the node's running callbacks have
    /// ended. An executor that does not spin keeps the node until it spins.
    pub fn remove_node(&self, node: &Node) {
        self.members.remove(&Member::Node(node.clone()), &self.signal);
    }

    /// Adds a group as [`Executor::add_callback_group`](crate::Executor::add_callback_group) does. If the executor
    /// spins, it runs the group's callbacks at once.
    ///
    /// # Errors
    /// The errors of [`Executor::add_callback_group`](crate::Executor::add_callback_group).
    pub fn add_callback_group(&self, group: &CallbackGroup) -> Result<()> {
        self.add(Member::Group(group.clone()))
    }

    /// Removes a group as [`Executor::remove_callback_group`](crate::Executor::remove_callback_group) does. The
    /// executor releases the group at the moment that [`ExecutorHandle::remove_node`] describes for a node.
    pub fn remove_callback_group(&self, group: &CallbackGroup) {
        self.members.remove(&Member::Group(group.clone()), &self.signal);
    }

    fn add(&self, member: Member) -> Result<()> {
        self.members.add(member, &self.signal, None)
    }
}

impl std::fmt::Debug for ExecutorHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ExecutorHandle(spinning: {})", self.is_spinning())
    }
}
