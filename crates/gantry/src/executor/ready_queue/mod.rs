//! The ready queue: the callbacks that may have something to do, the next due time, and the sleep until then.
//!
//! Invariants:
//! - A callback is *pending* from the moment that it may have something to do until a run finds nothing to do. Only
//!   gathering (`gather`, the search for callbacks that may have something to do) makes a callback pending.
//! - If a callback may have something to do and is not pending, its bit in the collector (the engine's set of topics
//!   with news) is set, or its due time has come, or it was notified (`WakeSignal`). Each of these three ends a sleep.
//! - A callback whose subscription is muted (`Collector::mute`: its news sets no bit) is pending.
//! - A timed callback that is not pending has its due time in `due`, and its source calls its waker when the due time
//!   changes. A callback whose source failed is pending, and `due` has the time of the next try.

mod registered_callback;
mod registration;
mod run;

pub(super) use registration::Deferred;
use registration::RegisteredMember;
pub(crate) use run::{Running, Work};

use super::{
    members::Members,
    slow_run::{SlowRun, Watchdog},
    wake_signal::WakeSignal,
};
use crate::{
    callback::{Callback, Group, RunOutcome},
    error::Result,
    time::monotonic_ns,
};
use gantry_shm::Collector;
use registered_callback::RegisteredCallback;
use std::{
    collections::{BTreeSet, HashMap},
    mem::take,
    sync::{Arc, atomic::Ordering::*},
    time::{Duration, Instant},
};

/// A ready queue: the callbacks of an executor's nodes, with their states: idle, pending or running.
#[derive(Default)]
pub struct ReadyQueue {
    pub(crate) signal: Arc<WakeSignal>,
    pub(crate) members: Arc<Members>,
    /// The version of the list of members from which `callbacks` was made.
    members_version: u64,
    registered_members: Vec<RegisteredMember>,
    /// The collector of the executor; `None` while the executor has no member.
    pub(crate) collector: Option<Collector>,
    watchdog: Option<Arc<Watchdog>>,
    /// The callbacks of the members, in the order of registration.
    callbacks: Vec<RegisteredCallback>,
    /// The indices of the callbacks for each collector bit. Empty before the first registration.
    by_bit: Vec<Vec<usize>>,
    /// The times at which callbacks become ready without news, or at which failed sources are tried again, each with
    /// the callback's index.
    due: BTreeSet<(u64, usize)>,
    /// The indices of pending callbacks that were not taken for a run yet, by priority level.
    ready: Vec<Vec<usize>>,
    /// The indices of callbacks whose news need not be reported now, because the current run of their group checks them
    /// afterwards. Empty between gatherings; the list is kept to reuse its memory.
    useless: Vec<usize>,
    /// The number of lanes. The callbacks of a lane never run at the same time.
    lanes: usize,
    /// The lane of each mutually exclusive group, by the address of the group in memory.
    lanes_of_groups: HashMap<usize, usize>,
    /// The callback that [`ReadyQueue::run`] runs, or that panicked in the last run.
    current: Option<usize>,
    slow_run: Option<SlowRun>,
    /// Whether the indices of callbacks changed since the last gathering.
    is_changed: bool,
    pub(super) deferred: Deferred,
}

impl ReadyQueue {
    /// Makes the callbacks pending that may have something to do. Returns whether the indices of callbacks changed
    /// since the last gathering.
    pub(crate) fn gather(&mut self) -> bool {
        self.begin_gathering();
        self.collect_news();
        self.end_gathering()
    }

    /// Gathers as [`Self::gather`] does, but without the news of publishers. It is meant for an order in which
    /// callbacks with such news would not run next. Their bits stay set and end a sleep.
    pub(crate) fn gather_without_news(&mut self) -> bool {
        self.begin_gathering();
        self.end_gathering()
    }

    fn begin_gathering(&mut self) {
        // The notifications are taken before the callbacks are read: a later change of the callbacks notifies again.
        let notified = self.signal.take_notified();
        self.signal.count_gathering();
        if self.is_outdated() {
            self.update_callbacks();
        }
        if let Some(index) = self.current.take() {
            self.report(index, RunOutcome::More);
        }
        for waker in notified {
            if let Some(callback) = waker.take_callback() {
                self.set_notified(callback);
            }
        }
    }

    /// Makes the callbacks pending whose topics have news.
    fn collect_news(&mut self) {
        let ReadyQueue { collector, callbacks, by_bit, ready, useless, .. } = self;
        let Some(collector) = collector else { return };
        let mut useless = take(useless);
        collector.collect(|bit| {
            let is_shared = by_bit[bit].len() > 1;
            for &index in &by_bit[bit] {
                if !callbacks[index].set_pending(ready, index, is_shared) {
                    useless.push(index);
                }
            }
        });
        for index in useless.drain(..) {
            if let Some(attachment) = &mut callbacks[index].attachment {
                collector.mute(attachment);
            }
        }
        self.useless = useless;
    }

    fn end_gathering(&mut self) -> bool {
        self.set_due_pending();
        if let Some(slow) = self.slow_run.take() {
            self.deferred.warning = self.warning_of(&slow).or(self.deferred.warning.take());
        }
        take(&mut self.is_changed)
    }

    /// Makes a notified callback pending. For a timed callback, only reads the due time again, because it may have
    /// changed.
    fn set_notified(&mut self, callback: Arc<Callback>) {
        let Some(index) = self.index_of(&callback) else { return self.deferred.callbacks.push(callback) };
        let registered = &mut self.callbacks[index];
        if !registered.is_timed {
            registered.set_pending(&mut self.ready, index, false);
        } else if !registered.is_pending {
            self.update_due(index);
        }
    }

    /// The index of a callback. `None` if the callback was removed or now belongs to another executor.
    fn index_of(&self, callback: &Arc<Callback>) -> Option<usize> {
        let index = callback.index.load(Relaxed);
        let registered = self.callbacks.get(index)?;
        Arc::ptr_eq(&registered.callback, callback).then_some(index)
    }

    /// Makes the callbacks pending whose due time has come.
    fn set_due_pending(&mut self) {
        if self.due.is_empty() {
            return;
        }
        let now_ns = monotonic_ns();
        while let Some(&(due_ns, index)) = self.due.first()
            && due_ns <= now_ns
        {
            self.set_due(index, None);
            let registered = &mut self.callbacks[index];
            registered.is_pending = true;
            self.ready[registered.level].push(index);
        }
    }

    /// Reads and stores the due time of a callback's source.
    fn update_due(&mut self, index: usize) {
        // The lock is free: a running callback is pending, and the due time of a pending callback is not read here.
        let due_ns = self.callbacks[index].callback.lock().waitable().due_ns();
        self.set_due(index, due_ns);
    }

    fn set_due(&mut self, index: usize, due_ns: Option<u64>) {
        let old_ns = std::mem::replace(&mut self.callbacks[index].due_ns, due_ns);
        if let Some(old_ns) = old_ns {
            self.due.remove(&(old_ns, index));
        }
        self.due.extend(due_ns.map(|due_ns| (due_ns, index)));
    }

    /// The number of lanes: one for each mutually exclusive group, and one for each callback of reentrant groups.
    pub(crate) fn lanes(&self) -> usize {
        self.lanes
    }

    /// The lane of a mutually exclusive group; `None` until the changed callbacks are gathered.
    pub(crate) fn lane_of(&self, group: &Arc<Group>) -> Option<usize> {
        if self.is_changed {
            return None;
        }
        self.lanes_of_groups.get(&(Arc::as_ptr(group) as usize)).copied()
    }

    /// The lane of a callback of a reentrant group; `None` if the callback was removed, or the next gathering changes
    /// the lanes.
    pub(crate) fn lane_of_callback(&self, callback: &Arc<Callback>) -> Option<usize> {
        self.index_of(callback).filter(|_| !self.is_changed).map(|index| self.callbacks[index].lane)
    }

    /// The number of priority levels: one level for each priority that a callback has.
    pub(crate) fn levels(&self) -> usize {
        self.ready.len()
    }

    /// The callback at that index.
    pub(crate) fn registered(&self, index: usize) -> &RegisteredCallback {
        &self.callbacks[index]
    }

    /// Takes the ready callbacks in the order of registration. The caller runs each of them and reports the outcome.
    pub(crate) fn take_ready(&mut self, into: &mut impl Extend<usize>) {
        if let Some((first, others)) = self.ready.split_first_mut() {
            others.iter_mut().for_each(|level| first.append(level));
            self.take_ready_at(0, into);
        }
    }

    /// Takes the ready callbacks of one priority.
    pub(crate) fn take_ready_at(&mut self, level: usize, into: &mut impl Extend<usize>) {
        self.ready[level].sort_unstable();
        into.extend(self.ready[level].drain(..));
    }

    /// The next time at which a callback becomes ready without news or is tried again, CLOCK_MONOTONIC; `u64::MAX` if
    /// there is none.
    pub(crate) fn next_due_ns(&self) -> u64 {
        self.due.first().map_or(u64::MAX, |&(due_ns, _)| due_ns)
    }

    /// The deadline of the next sleep: the earlier of the next due time and `limit`. `Some(None)` means a sleep that
    /// only news ends. `None` means no sleep, because a callback is ready.
    pub(crate) fn sleep_deadline(&self, limit: Option<Instant>) -> Option<Option<Instant>> {
        if self.ready.iter().any(|ready| !ready.is_empty()) {
            return None;
        }
        let due = self.due.first().and_then(|&(due_ns, _)| {
            Instant::now().checked_add(Duration::from_nanos(due_ns.saturating_sub(monotonic_ns())))
        });
        Some(limit.into_iter().chain(due).min())
    }

    /// Sleeps until there is news, a callback is due, or `limit` has passed.
    pub(crate) fn sleep(&mut self, limit: Option<Instant>) -> Result<()> {
        if let Some(until) = self.sleep_deadline(limit)
            && let Some(collector) = &mut self.collector
        {
            collector.wait(until, || self.signal.should_wake())?;
        }
        Ok(())
    }
}

impl std::fmt::Debug for ReadyQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} nodes and groups, {} callbacks", self.registered_members.len(), self.callbacks.len())
    }
}

#[cfg(test)]
mod tests;
