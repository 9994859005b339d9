//! Groups of a node's callbacks.

use super::Node;
use crate::{
    callback::{CallbackGroupType, CallbackHandle, Group},
    error::Result,
    time::{Tick, Timer},
    wait::TakeSource,
};
use gantry_shm::SchedulingPolicy;
use std::{sync::Arc, time::Duration};

/// A group of a node's callbacks. Clones are handles to the same group. A group keeps its node alive.
#[derive(Clone)]
pub struct CallbackGroup {
    node: Node,
    group: Arc<Group>,
}

impl CallbackGroup {
    pub(super) fn new(node: Node, kind: CallbackGroupType) -> CallbackGroup {
        CallbackGroup { node, group: Arc::new(Group::new(kind)) }
    }

    /// The handle of a group.
    pub(crate) fn from_group(node: Node, group: Arc<Group>) -> CallbackGroup {
        CallbackGroup { node, group }
    }

    /// Sets the priority, by default 0: an executor starts the ready callbacks of groups with a higher priority first.
    #[must_use]
    pub fn with_priority(self, priority: i32) -> CallbackGroup {
        self.group.set_priority(priority);
        self.node.callbacks().touch();
        self
    }

    /// Sets whether [`Executor::add_node`](crate::Executor::add_node) also adds this group, as it does by default.
    /// Otherwise, only [`Executor::add_callback_group`](crate::Executor::add_callback_group) adds the group to an
    /// executor. An executor that already runs the group releases it at its next search for ready callbacks at which no
    /// callback of the group runs.
    #[must_use]
    pub fn automatically_add_to_executor_with_node(self, is_added: bool) -> CallbackGroup {
        self.group.set_added_with_node(is_added);
        self.node.callbacks().touch();
        self
    }

    /// Sets the scheduling policy of the group's thread for later spins of a
    /// [`CallbackIsolatedExecutor`](crate::CallbackIsolatedExecutor).
    #[must_use]
    pub fn with_scheduling_policy(self, policy: SchedulingPolicy) -> CallbackGroup {
        self.group.set_thread(|thread| thread.policy = Some(policy));
        self
    }

    /// Sets the CPUs of the group's thread for later spins of a
    /// [`CallbackIsolatedExecutor`](crate::CallbackIsolatedExecutor).
    #[must_use]
    pub fn with_cpus(self, cpus: &[usize]) -> CallbackGroup {
        self.group.set_thread(|thread| thread.cpus = cpus.to_vec());
        self
    }

    /// Adds a callback to the group. The group's executor calls `callback` with `waitable` and each value taken from
    /// it. `waitable` must be in the node's domain. A callback that owns its group or a clone of its node keeps the
    /// node alive for ever: give it publishers and clients, or a [`WeakNode`](crate::Node::downgrade).
    pub fn add_callback<W>(
        &self,
        waitable: W,
        callback: impl FnMut(&mut W, W::Taken) + Send + 'static,
    ) -> CallbackHandle
    where
        W: TakeSource + 'static,
        W::Taken: Send,
    {
        self.node.callbacks().add(&self.group, waitable, callback)
    }

    /// Makes a timer as [`Node::create_timer_with_callback`] does, with the callback in this group.
    ///
    /// # Errors
    /// The errors of [`Node::create_timer_with_callback`].
    pub fn create_timer_with_callback(
        &self,
        period: Duration,
        mut callback: impl FnMut(Tick) + Send + 'static,
    ) -> Result<Timer> {
        let timer = self.node.create_timer(period)?;
        self.add_callback(timer.clone(), move |_, tick| callback(tick));
        Ok(timer)
    }

    /// The node of the group.
    #[must_use]
    pub fn node(&self) -> &Node {
        &self.node
    }

    pub(crate) fn group(&self) -> &Arc<Group> {
        &self.group
    }
}

impl std::fmt::Debug for CallbackGroup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (node, kind, priority) = (self.node.fully_qualified_name(), self.group.kind, self.group.priority());
        write!(f, "CallbackGroup({kind:?} of {node}, priority {priority})")
    }
}
