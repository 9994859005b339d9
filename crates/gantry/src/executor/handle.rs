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

/// A handle to an executor, for other threads and for callbacks, also while the executor spins. Clones are handles to
/// the same executor. A handle does not keep the executor alive.
#[derive(Clone)]
pub struct ExecutorHandle {
    pub(super) signal: Arc<WakeSignal>,
    pub(super) members: Arc<Members>,
}

impl ExecutorHandle {
    /// Ends the current spin once the callbacks that run now have ended. If the executor does not spin now, its next
    /// spin ends at once.
    ///
    /// # Real-time
    /// No allocation; one lock, which is held for some nanoseconds, and at most one system call. A signal handler must
    /// not call it: see [`init`](crate::init).
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

    /// As [`Executor::add_node`](crate::Executor::add_node). An executor that spins runs the node's callbacks at once.
    ///
    /// # Errors
    /// As that method.
    pub fn add_node(&self, node: &Node) -> Result<()> {
        self.add(Member::Node(node.clone()))
    }

    /// As [`Executor::remove_node`](crate::Executor::remove_node). An executor that spins releases the node when it
    /// next looks for ready callbacks (at once if it sleeps), after the callbacks of the node that run now have
    /// ended. An executor that does not spin keeps the node until it spins.
    pub fn remove_node(&self, node: &Node) {
        self.members.remove(&Member::Node(node.clone()), &self.signal);
    }

    /// As [`Executor::add_callback_group`](crate::Executor::add_callback_group). If the executor
    /// is spinning, the group takes effect immediately.
    ///
    /// # Errors
    /// As that method.
    pub fn add_callback_group(&self, group: &CallbackGroup) -> Result<()> {
        self.add(Member::Group(group.clone()))
    }

    /// As [`Executor::remove_callback_group`](crate::Executor::remove_callback_group). The executor releases the
    /// group at the same moment at which [`ExecutorHandle::remove_node`] would release a node.
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
