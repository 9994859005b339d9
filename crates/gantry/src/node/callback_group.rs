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

/// A group of a node's callbacks. Clones are handles to the same group. A group keeps its node alive, as a clone of
/// the node does.
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

    /// Sets whether [`Executor::add_node`](crate::Executor::add_node) also adds this group, as it does by default. A
    /// group that is not added with its node runs only in the executor to which
    /// [`Executor::add_callback_group`](crate::Executor::add_callback_group) adds it. A group that an executor already
    /// runs becomes free when that executor next looks for ready callbacks while no callback of the group runs.
    #[must_use]
    pub fn automatically_add_to_executor_with_node(self, is_added: bool) -> CallbackGroup {
        self.group.set_added_with_node(is_added);
        self.node.callbacks().touch();
        self
    }

    /// Sets the scheduling policy of the group's thread in a
    /// [`CallbackIsolatedExecutor`](crate::CallbackIsolatedExecutor) that spins afterwards.
    #[must_use]
    pub fn with_scheduling_policy(self, policy: SchedulingPolicy) -> CallbackGroup {
        self.group.set_thread(|thread| thread.policy = Some(policy));
        self
    }

    /// Sets the CPUs of the group's thread in a [`CallbackIsolatedExecutor`](crate::CallbackIsolatedExecutor) that
    /// spins afterwards.
    #[must_use]
    pub fn with_cpus(self, cpus: &[usize]) -> CallbackGroup {
        self.group.set_thread(|thread| thread.cpus = cpus.to_vec());
        self
    }

    /// Gives `waitable`, which must be of the node's domain, to the executor of the group. The executor calls
    /// `callback` with the waitable and each value taken from it. A callback that owns its group or a clone of its
    /// node keeps the node alive for ever: give it publishers and clients, or a [`WeakNode`](crate::Node::downgrade).
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

    /// As [`Node::create_timer_with_callback`], in this group.
    ///
    /// # Errors
    /// As that method.
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
