//! The members of an executor: nodes, and callback groups without their node. Any thread adds and removes members;
//! the executor reads the list before it gathers ready callbacks.
//!
//! Invariant: a removed member still belongs to this executor until the executor has released the member's callbacks
//! and none of them runs. So no callback runs in one executor while another executor has its group.

use super::wake_signal::WakeSignal;
use crate::{
    callback::Callback,
    error::{Error, Result},
    log,
    node::{CallbackGroup, Node},
    wait::lock,
};
use gantry_shm::Participant;
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::*},
    },
    task::Waker,
};

/// A node, or a callback group without its node.
#[derive(Clone)]
pub(crate) enum Member {
    Node(Node),
    Group(CallbackGroup),
}

/// The members of an executor.
#[derive(Default)]
pub(crate) struct Members {
    list: Mutex<MemberList>,
    /// The number of changes of the list of members.
    version: AtomicU64,
}

#[derive(Default)]
struct MemberList {
    members: Vec<Member>,
    /// Removed members whose callbacks the executor still has.
    leaving: Vec<Member>,
    /// The participant of all members. A spinning executor keeps it alive even without a member.
    participant: Option<Arc<Participant>>,
    /// Whether the executor was dropped.
    is_closed: bool,
}

impl Member {
    /// The full name of the node.
    pub(crate) fn node_name(&self) -> String {
        self.node().fully_qualified_name()
    }

    fn node(&self) -> &Node {
        match self {
            Member::Node(node) => node,
            Member::Group(group) => group.node(),
        }
    }

    fn is(&self, other: &Member) -> bool {
        match (self, other) {
            (Member::Node(node), Member::Node(other)) => Arc::ptr_eq(node.callbacks(), other.callbacks()),
            (Member::Group(group), Member::Group(other)) => Arc::ptr_eq(group.group(), other.group()),
            _ => false,
        }
    }

    /// The number of changes of the node's list of callbacks.
    pub(crate) fn version(&self) -> u64 {
        self.node().callbacks().version()
    }

    /// The callbacks that the executor runs for this member, in the order in which they were added.
    pub(crate) fn callbacks(&self, executor: &Waker) -> Vec<Arc<Callback>> {
        match self {
            Member::Node(node) => node.callbacks().node_callbacks(),
            Member::Group(group) => group.node().callbacks().group_callbacks(group.group(), executor),
        }
    }

    fn attach(&self, executor: &Waker, parent: Option<&Waker>) -> Result<()> {
        let node = || self.node_name();
        match self {
            Member::Node(other) if other.callbacks().attach_executor(executor) => Ok(()),
            Member::Node(_) => Err(Error::NodeInUse { node: node() }),
            Member::Group(group) if group.node().callbacks().attach_group(group.group(), executor, parent) => Ok(()),
            Member::Group(_) => Err(Error::GroupInUse { node: node() }),
        }
    }

    /// Whether the callback belongs to the member.
    pub(crate) fn has(&self, callback: &Callback) -> bool {
        match self {
            Member::Node(node) => callback.is_of(node.callbacks()),
            Member::Group(group) => Arc::ptr_eq(group.group(), &callback.group),
        }
    }

    /// Removes the callbacks of the node.
    pub(crate) fn clear(&self) {
        self.node().callbacks().clear();
    }

    /// Ends the assignment of the member to this executor, so that another executor can take it.
    pub(crate) fn detach(&self, executor: &Waker) {
        match self {
            Member::Node(node) => node.callbacks().detach_executor(),
            Member::Group(group) => group.node().callbacks().detach_group(group.group(), executor),
        }
    }
}

impl Members {
    /// Adds a member and wakes the executor. `parent` is the waker of an executor that passes groups of its nodes on
    /// to this executor.
    pub(crate) fn add(&self, member: Member, signal: &Arc<WakeSignal>, parent: Option<&Waker>) -> Result<()> {
        let mut list = lock(&self.list);
        if list.is_closed {
            return Err(Error::ExecutorGone { node: member.node().fully_qualified_name() });
        }
        let participant = member.node().participant();
        if let Some(other) = &list.participant
            && !Arc::ptr_eq(other, participant)
        {
            let (node, domain_id) = (member.node().fully_qualified_name(), member.node().domain_id());
            return Err(Error::ForeignNode { node, domain_id, executors: other.domain_id() });
        }
        match list.leaving.iter().position(|leaving| leaving.is(&member)) {
            Some(index) => drop(list.leaving.swap_remove(index)), // the member is still attached
            None => member.attach(&signal.clone().into(), parent)?,
        }
        log::debug(&member.node().fully_qualified_name(), "an executor has this node");
        list.participant = Some(participant.clone());
        let node = member.node().clone();
        list.members.push(member);
        self.version.fetch_add(1, Release);
        drop(list);
        node.warn_of_misspelt_parameters();
        signal.wake_executor();
        Ok(())
    }

    /// Removes a member, if it is in the list, and wakes the executor, so that the executor releases the member.
    pub(crate) fn remove(&self, member: &Member, signal: &WakeSignal) {
        let mut list = lock(&self.list);
        let Some(index) = list.members.iter().position(|other| other.is(member)) else { return };
        let removed = list.members.remove(index);
        list.leaving.push(removed);
        self.version.fetch_add(1, Release);
        drop(list);
        signal.wake_executor();
    }

    /// The number of changes of the list of members.
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Acquire)
    }

    /// The members, and the removed members. For each removed member, the executor first releases the callbacks and
    /// then calls [`Members::release`].
    pub(crate) fn list(&self) -> (Vec<Member>, Vec<Member>) {
        let list = lock(&self.list);
        (list.members.clone(), list.leaving.clone())
    }

    /// The callbacks that the executor runs.
    pub(crate) fn callbacks(&self, executor: &Waker) -> Vec<Arc<Callback>> {
        lock(&self.list).members.iter().flat_map(|member| member.callbacks(executor)).collect()
    }

    /// Releases a removed member, so that another executor can take it. Returns the list's handle of the member, or
    /// `None` if the member was added again meanwhile.
    pub(crate) fn release(&self, member: &Member, executor: &Waker) -> Option<Member> {
        let mut list = lock(&self.list);
        let index = list.leaving.iter().position(|leaving| leaving.is(member))?;
        member.detach(executor);
        Some(list.leaving.swap_remove(index))
    }

    /// Makes the executor read the list of members again.
    pub(crate) fn touch(&self) {
        self.version.fetch_add(1, Release);
    }

    /// The groups whose callbacks the executor runs.
    pub(crate) fn groups(&self, signal: &Arc<WakeSignal>) -> Vec<CallbackGroup> {
        let mut groups: Vec<CallbackGroup> = Vec::new();
        for member in &lock(&self.list).members {
            for callback in member.callbacks(&signal.clone().into()) {
                if !groups.iter().any(|group| Arc::ptr_eq(group.group(), &callback.group)) {
                    groups.push(CallbackGroup::from_group(member.node().clone(), callback.group.clone()));
                }
            }
        }
        groups
    }

    /// Whether a group that was passed on to another executor has callbacks and is still a member, with or
    /// without its node.
    pub(crate) fn has_callbacks_of(&self, group: &CallbackGroup) -> bool {
        let callbacks = group.node().callbacks();
        let is_member = lock(&self.list).members.iter().any(|member| match member {
            Member::Node(node) => Arc::ptr_eq(node.callbacks(), callbacks) && group.group().is_added_with_node(),
            Member::Group(other) => Arc::ptr_eq(other.group(), group.group()),
        });
        is_member && callbacks.has_any_of(group.group())
    }

    /// The participant of the members.
    pub(crate) fn participant(&self) -> Option<Arc<Participant>> {
        lock(&self.list).participant.clone()
    }

    pub(crate) fn is_empty(&self) -> bool {
        lock(&self.list).members.is_empty()
    }

    /// Removes all members and accepts no new ones, because the executor is dropped.
    pub(crate) fn close(&self) -> Vec<Member> {
        let mut list = lock(&self.list);
        (list.is_closed, list.participant) = (true, None);
        let leaving = std::mem::take(&mut list.leaving);
        std::mem::take(&mut list.members).into_iter().chain(leaving).collect()
    }

    /// Releases the participant if the executor has no members, so that the next member may be in another domain.
    /// Returns whether the executor has no members.
    pub(crate) fn release_participant(&self) -> bool {
        let mut list = lock(&self.list);
        if list.members.is_empty() {
            list.participant = None;
        }
        list.members.is_empty()
    }
}
