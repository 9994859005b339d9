//! The registration of callbacks: the ready queue takes the callbacks of the executor's members, and releases the
//! callbacks of members that left.

use super::{ReadyQueue, registered_callback::RegisteredCallback};
use crate::{
    callback::{Callback, CallbackGroupType},
    context,
    error::{Error, Result},
    executor::{
        members::Member,
        slow_run::{SlowRunWarning, Watchdog},
    },
};
use gantry_shm::Collector;
use std::{
    collections::BTreeSet,
    mem::take,
    sync::{Arc, atomic::Ordering::*},
    task::Waker,
};

/// The work that a gathering postpones until no lock is held: it logs, and drops members and callbacks, whose
/// destructors may run user code.
#[derive(Default)]
pub(crate) struct Deferred {
    members: Vec<Member>,
    pub(super) callbacks: Vec<Arc<Callback>>,
    pub(super) warning: Option<SlowRunWarning>,
}

/// A member whose callbacks are registered.
pub(super) struct RegisteredMember {
    pub(super) member: Member,
    /// The version of the node's list of callbacks that is registered.
    version: u64,
}

impl Deferred {
    pub(crate) fn is_empty(&self) -> bool {
        self.members.is_empty() && self.callbacks.is_empty() && self.warning.is_none()
    }

    /// Logs the warning, and drops the members and callbacks.
    pub(crate) fn finish(self) {
        if let Some(warning) = &self.warning {
            warning.log();
        }
    }
}

impl ReadyQueue {
    /// Adds a member. `parent` is the waker of the executor that passes the group on to this executor, if there is one.
    pub(crate) fn add(&mut self, member: Member, parent: Option<&Waker>) -> Result<()> {
        self.members.add(member.clone(), &self.signal, parent)?;
        self.make_collector().inspect_err(|_| self.remove(&member))
    }

    pub(crate) fn remove(&mut self, member: &Member) {
        self.members.remove(member, &self.signal);
        self.end_spin();
    }

    /// Fails if the executor has no member. Otherwise makes the collector if there is none.
    pub(crate) fn check(&mut self) -> Result<()> {
        if self.members.is_empty() { Err(Error::NoNode) } else { self.make_collector() }
    }

    fn make_collector(&mut self) -> Result<()> {
        if self.collector.is_none()
            && let Some(participant) = self.members.participant()
        {
            let collector = Collector::new(&participant)?;
            self.watchdog = Some(Watchdog::start(&participant, &self.signal, &self.members)?);
            self.signal.set_bell(Some(collector.bell()));
            self.collector = Some(collector);
        }
        Ok(())
    }

    /// Releases the members and callbacks that were removed during a spin but after its last gathering.
    pub(crate) fn end_spin(&mut self) {
        if self.is_outdated() {
            self.update_callbacks();
        }
        if self.members.release_participant() {
            (self.collector, self.watchdog) = (None, None);
            self.signal.set_bell(None);
        }
        take(&mut self.deferred).finish();
    }

    pub(super) fn is_outdated(&self) -> bool {
        // The flag is cleared here and not in the condition below, which might skip the call: whenever the versions are
        // compared, the flag must be cleared.
        let are_nodes_changed = self.signal.take_nodes_changed();
        self.members_version != self.members.version()
            || are_nodes_changed
                && self
                    .registered_members
                    .iter()
                    .any(|RegisteredMember { member, version }| *version != member.version())
    }

    /// Registers the current callbacks of the members. All callbacks become pending, because their sources were not
    /// checked yet.
    pub(super) fn update_callbacks(&mut self) {
        let Some(collector) = &mut self.collector else {
            // Without a collector, no callback is registered. Only members that a handle added and removed must be
            // released.
            let waker = self.signal.clone().into();
            let (_, leaving) = self.members.list();
            self.deferred.members.extend(leaving.iter().filter_map(|member| self.members.release(member, &waker)));
            return self.deferred.members.extend(leaving);
        };
        let mut current = Vec::new();
        // The versions are read before the members and callbacks: a later change raises a version, which causes another
        // reading.
        self.members_version = self.members.version();
        let (waker, (members, leaving)) = (self.signal.clone().into(), self.members.list());
        let before = self.registered_members.drain(..).map(|registered| registered.member);
        self.deferred.members.extend(before);
        for member in members {
            self.registered_members.push(RegisteredMember { version: member.version(), member: member.clone() });
            current.extend(member.callbacks(&waker));
        }
        let mut old: Vec<_> = take(&mut self.callbacks).into_iter().map(Some).collect();
        for callback in current {
            let known = old
                .get_mut(callback.index.load(Relaxed))
                .and_then(|registered| registered.take_if(|registered| Arc::ptr_eq(&registered.callback, &callback)));
            let attach = || RegisteredCallback::attach(callback, &self.signal, collector);
            let registered = known.unwrap_or_else(attach);
            self.callbacks.push(RegisteredCallback { is_leaving: false, ..registered });
        }
        // Running callbacks stay registered until `finish`, so that no other executor takes them or their groups.
        let (running, idle): (Vec<_>, Vec<_>) = old.into_iter().flatten().partition(|registered| registered.is_running);
        self.deferred.callbacks.extend(idle.into_iter().map(|registered| registered.detach(collector)));
        for member in &leaving {
            if !running.iter().any(|registered| member.has(&registered.callback)) {
                self.deferred.members.extend(self.members.release(member, &waker));
            }
        }
        self.deferred.members.extend(leaving);
        let stays = |registered| RegisteredCallback { is_leaving: true, ..registered };
        self.callbacks.extend(running.into_iter().map(stays));
        self.index_callbacks();
        self.wait_for_look(); // so the last handles of removed items are dropped here, not on the control thread
    }

    fn wait_for_look(&self) {
        self.watchdog.iter().for_each(|watchdog| watchdog.wait_for_look());
    }

    /// Assigns indices, lanes and levels to the callbacks.
    fn index_callbacks(&mut self) {
        self.by_bit = vec![Vec::new(); Collector::BITS];
        (self.due, self.lanes, self.current, self.is_changed) = (BTreeSet::new(), 0, None, true);
        let priorities: BTreeSet<_> = self.callbacks.iter().map(RegisteredCallback::priority).collect();
        self.ready = vec![Vec::new(); priorities.len()];
        self.lanes_of_groups.clear();
        for (index, registered) in self.callbacks.iter_mut().enumerate() {
            registered.callback.index.store(index, Relaxed);
            (registered.is_pending, registered.due_ns) = (true, None);
            registered.level = priorities.range(..registered.priority()).count();
            let group = &registered.callback.group;
            registered.lane = match group.kind {
                CallbackGroupType::Reentrant => self.lanes,
                CallbackGroupType::MutuallyExclusive => {
                    *self.lanes_of_groups.entry(Arc::as_ptr(group) as usize).or_insert(self.lanes)
                }
            };
            self.lanes = self.lanes.max(registered.lane + 1);
            if let Some(attachment) = &registered.attachment {
                self.by_bit[attachment.bit()].push(index);
            }
            if !registered.is_running {
                self.ready[registered.level].push(index); // a running callback is reported at the end of its run
            }
        }
    }
}

impl Drop for ReadyQueue {
    fn drop(&mut self) {
        let members = self.members.close();
        self.wait_for_look();
        if let Some(collector) = &mut self.collector {
            self.callbacks.drain(..).for_each(|registered| drop(registered.detach(collector)));
        }
        let waker = self.signal.clone().into();
        for member in &members {
            member.detach(&waker);
            if context::is_shut_down() {
                member.clear(); // no callback runs any more, and a callback that owns its node would leak the node
            }
        }
        self.signal.set_bell(None);
    }
}
