//! The ready queue: the callbacks that may have something to do, the time at which the next is due, and the sleep until
//! then.
//!
//! Invariants:
//! - A callback is *pending* from the moment that it may have something until a run finds nothing. Only gathering makes
//!   it pending.
//! - A callback that may have something and is not pending has set a bit of the collector, is due, or was notified
//!   (`WakeSignal`): each of these ends a sleep.
//! - A callback whose subscription is muted is pending.
//! - A timed callback that is not pending has its due time in `due`: its source calls its waker whenever that changes.
//!   A callback whose source failed is pending, and in `due` with the time of the next try.

use super::{
    members::{Member, Members},
    registered_callback::RegisteredCallback,
    slow_run::SlowRun,
    wake_signal::WakeSignal,
};
use crate::{
    callback::{Callback, CallbackGroupType, EventKey, Group, RunOutcome, TakeOrder},
    context,
    error::{Error, Result},
    time::monotonic_ns,
};
use gantry_shm::Collector;
use std::{
    collections::{BTreeSet, HashMap},
    mem::take,
    sync::{Arc, atomic::Ordering::*},
    task::Waker,
    time::{Duration, Instant},
};

/// The pause before a callback whose source failed is tried again.
const RETRY_AFTER_NS: u64 = 100_000_000;

/// The callbacks of an executor's nodes, and which of them may run.
#[derive(Default)]
pub struct ReadyQueue {
    pub(crate) signal: Arc<WakeSignal>,
    pub(crate) members: Arc<Members>,
    /// The number of changes of the members, and the members, that `callbacks` holds.
    members_version: u64,
    registered_members: Vec<RegisteredMember>,
    /// `None` without a member.
    pub(crate) collector: Option<Collector>,
    /// In the order of registration.
    callbacks: Vec<RegisteredCallback>,
    /// Indices of callbacks, by the bit of the collector; empty before the first registration.
    by_bit: Vec<Vec<usize>>,
    /// The times at which callbacks become ready by themselves, or are tried again, with their indices.
    due: BTreeSet<(u64, usize)>,
    /// Indices of pending callbacks that are not taken for a run yet, by their levels.
    ready: Vec<Vec<usize>>,
    /// Empty: room for the indices of callbacks whose news are of no use at present.
    useless: Vec<usize>,
    lanes: usize,
    /// The lanes of mutually exclusive groups, by the groups' addresses.
    lanes_of_groups: HashMap<usize, usize>,
    /// The callback that [`ReadyQueue::run`] runs, or that panicked in it.
    current: Option<usize>,
    slow_run: Option<SlowRun>,
    /// Callbacks have other indices than at the last gathering.
    is_changed: bool,
    /// The members and callbacks that gatherings let go. They are dropped where no lock is held: they may own anything.
    pub(super) released: Released,
}

/// Members and callbacks that an executor let go, perhaps the last handles of them.
#[derive(Default)]
pub(super) struct Released {
    members: Vec<Member>,
    callbacks: Vec<Arc<Callback>>,
}

struct RegisteredMember {
    member: Member,
    /// The version of the node's callbacks that `callbacks` holds.
    version: u64,
}

/// A callback that was started: [`ReadyQueue::finish`] takes it.
#[must_use = "a run that is not finished keeps its callback from running again"]
pub(crate) struct Running {
    pub(crate) callback: Arc<Callback>,
    pub(crate) work: Work,
}

/// The work of a run.
#[derive(Clone, Copy)]
pub(crate) enum Work {
    /// Takes a value, and calls the callback with it.
    Take(TakeOrder),
    /// Calls the callback with a kept value. A lossy one was reported when it was queued.
    Queued { key: EventKey, is_lossy: bool },
}

impl Released {
    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty() && self.callbacks.is_empty()
    }
}

impl Running {
    pub(crate) fn run(&self) -> RunOutcome {
        match self.work {
            Work::Take(order) => self.callback.run(order),
            Work::Queued { key, .. } => self.callback.run_queued(key),
        }
    }
}

impl ReadyQueue {
    /// Adds a member. `parent` is the waker of an executor that passes on groups of its nodes.
    pub(crate) fn add(&mut self, member: Member, parent: Option<&Waker>) -> Result<()> {
        self.members.add(member.clone(), &self.signal, parent)?;
        self.make_collector().inspect_err(|_| self.remove(&member))
    }

    pub(crate) fn remove(&mut self, member: &Member) {
        self.members.remove(member, &self.signal);
        self.end_spin();
    }

    /// Refuses to spin without a member.
    pub(crate) fn check(&mut self) -> Result<()> {
        if self.members.is_empty() { Err(Error::NoNode) } else { self.make_collector() }
    }

    fn make_collector(&mut self) -> Result<()> {
        if self.collector.is_none()
            && let Some(participant) = self.members.participant()
        {
            let collector = Collector::new(&participant)?;
            self.signal.set_bell(Some(collector.bell()));
            self.collector = Some(collector);
        }
        Ok(())
    }

    /// Lets go of members and callbacks that were removed during a spin and after its last gathering.
    pub(crate) fn end_spin(&mut self) {
        if self.is_outdated() {
            self.update_callbacks();
        }
        if self.members.release_participant() {
            self.collector = None;
            self.signal.set_bell(None);
        }
        drop(take(&mut self.released));
    }

    fn is_outdated(&self) -> bool {
        self.members_version != self.members.version()
            || self.registered_members.iter().any(|RegisteredMember { member, version }| *version != member.version())
    }

    /// Registers the nodes' current callbacks. All become pending: their sources were not looked at yet.
    fn update_callbacks(&mut self) {
        let Some(collector) = &mut self.collector else {
            // Before its first spin: members that came and left by a handle have no callbacks here.
            let waker = self.signal.clone().into();
            let (_, leaving) = self.members.list();
            self.released.members.extend(leaving.iter().filter_map(|member| self.members.release(member, &waker)));
            return self.released.members.extend(leaving);
        };
        let mut current = Vec::new();
        // Versions first: a later change raises them again.
        self.members_version = self.members.version();
        let (waker, (members, leaving)) = (self.signal.clone().into(), self.members.list());
        let before = self.registered_members.drain(..).map(|registered| registered.member);
        self.released.members.extend(before);
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
        // Those that run stay until `finish`: nobody else may have them or their groups before.
        let (running, idle): (Vec<_>, Vec<_>) = old.into_iter().flatten().partition(|registered| registered.is_running);
        self.released.callbacks.extend(idle.into_iter().map(|registered| registered.detach(collector)));
        for member in &leaving {
            if !running.iter().any(|registered| member.has(&registered.callback)) {
                self.released.members.extend(self.members.release(member, &waker));
            }
        }
        self.released.members.extend(leaving);
        let stays = |registered| RegisteredCallback { is_leaving: true, ..registered };
        self.callbacks.extend(running.into_iter().map(stays));
        self.index_callbacks();
    }

    /// Gives the callbacks their indices, lanes and levels.
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
                self.ready[registered.level].push(index); // the thread that runs a callback reports it
            }
        }
    }

    /// Makes the callbacks pending that may have something. Returns whether callbacks have other indices than at the
    /// last gathering.
    pub(crate) fn gather(&mut self) -> bool {
        // The notifications first: a change of the callbacks after the look at them notifies again.
        let notified = self.signal.take_notified();
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
        let ReadyQueue { collector, callbacks, by_bit, ready, useless, .. } = self;
        if let Some(collector) = collector {
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
        self.set_due_pending();
        if let Some(slow) = self.slow_run.take() {
            self.say_slow_run(&slow);
        }
        take(&mut self.is_changed)
    }

    /// Makes a callback pending that was notified. The due time of a timed one may have changed.
    fn set_notified(&mut self, callback: Arc<Callback>) {
        let Some(index) = self.index_of(&callback) else { return self.released.callbacks.push(callback) };
        let registered = &mut self.callbacks[index];
        if !registered.is_timed {
            registered.set_pending(&mut self.ready, index, false);
        } else if !registered.is_pending {
            self.update_due(index);
        }
    }

    /// The index of a callback; `None` if it was removed, or another executor has it now.
    fn index_of(&self, callback: &Arc<Callback>) -> Option<usize> {
        let index = callback.index.load(Relaxed);
        let registered = self.callbacks.get(index)?;
        Arc::ptr_eq(&registered.callback, callback).then_some(index)
    }

    /// Makes the callbacks pending that are due.
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

    /// Asks a callback's source when it is due.
    fn update_due(&mut self, index: usize) {
        // A callback that runs is pending, and its due time is not asked: its mutex is never waited for.
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

    /// The number of lanes: of mutually exclusive groups, and of callbacks of reentrant ones.
    pub(crate) fn lanes(&self) -> usize {
        self.lanes
    }

    /// The lane of a mutually exclusive group; `None` before the callbacks that changed are gathered.
    pub(crate) fn lane_of(&self, group: &Arc<Group>) -> Option<usize> {
        if self.is_changed {
            return None;
        }
        self.lanes_of_groups.get(&(Arc::as_ptr(group) as usize)).copied()
    }

    /// The lane of a callback of a reentrant group; `None` if it was removed, or the next gathering changes the lanes.
    pub(crate) fn lane_of_callback(&self, callback: &Arc<Callback>) -> Option<usize> {
        self.index_of(callback).filter(|_| !self.is_changed).map(|index| self.callbacks[index].lane)
    }

    /// The number of levels, one for each priority.
    pub(crate) fn levels(&self) -> usize {
        self.ready.len()
    }

    /// The callback at that index.
    pub(crate) fn registered(&self, index: usize) -> &RegisteredCallback {
        &self.callbacks[index]
    }

    /// Runs a callback on the thread that gathers, and reports the outcome: whether the callback ran. A panic is
    /// reported at the next gathering.
    pub(crate) fn run(&mut self, index: usize, run: impl FnOnce(&Callback) -> RunOutcome) -> bool {
        self.current = Some(index);
        let outcome = self.run_reported(index, run);
        self.current = None;
        self.report(index, outcome);
        matches!(outcome, RunOutcome::More | RunOutcome::Last)
    }

    /// The same for a callback whose outcome was reported before.
    pub(crate) fn run_reported(&mut self, index: usize, run: impl FnOnce(&Callback) -> RunOutcome) -> RunOutcome {
        let (outcome, slow) = SlowRun::watch(index, || run(&self.callbacks[index].callback));
        self.slow_run = slow.or(self.slow_run.take());
        outcome
    }

    /// Says a slow run if another callback has something to do after it.
    fn say_slow_run(&self, slow: &SlowRun) {
        let mut others = self.callbacks.iter().enumerate().filter(|(index, _)| *index != slow.index);
        if !self.is_changed && others.any(|(_, registered)| registered.is_pending) {
            slow.say(&self.callbacks[slow.index].callback);
        }
    }

    /// Starts the run of a callback on another thread than the one that gathers.
    pub(crate) fn start(&mut self, index: usize, work: Work) -> Running {
        self.callbacks[index].is_running = true;
        Running { callback: self.callbacks[index].callback.clone(), work }
    }

    /// Makes all kept values the next ones to be taken; those of a callback that runs, at the end of the run.
    pub(crate) fn return_queued(&mut self) {
        for registered in &mut self.callbacks {
            registered.has_orphans = registered.is_running;
            if !registered.is_running {
                registered.callback.lock().return_queued();
            }
        }
    }

    /// Ends a run.
    pub(crate) fn finish(&mut self, Running { callback, work }: Running, outcome: RunOutcome) {
        let Some(index) = self.index_of(&callback) else { return };
        let registered = &mut self.callbacks[index];
        registered.is_running = false;
        if registered.is_leaving {
            self.members.touch(); // the next gathering lets it go, before another start
        }
        let (has_news, has_orphans) = (take(&mut registered.has_news), take(&mut registered.has_orphans));
        if has_orphans {
            callback.lock().return_queued();
        }
        let is_over = matches!(outcome, RunOutcome::Last | RunOutcome::Nothing);
        if !matches!(work, Work::Queued { is_lossy: true, .. }) || has_orphans {
            self.report(index, if has_orphans || is_over && has_news { RunOutcome::More } else { outcome });
        } else if has_news {
            registered.set_pending(&mut self.ready, index, false);
        }
    }

    /// Takes the ready callbacks in the order of registration. Each is to be run and reported.
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

    /// Records the outcome of a run.
    pub(crate) fn report(&mut self, index: usize, outcome: RunOutcome) {
        match outcome {
            RunOutcome::More | RunOutcome::Skipped => self.ready[self.callbacks[index].level].push(index),
            RunOutcome::Last | RunOutcome::Nothing if self.unmute(index) => self.report(index, RunOutcome::More),
            RunOutcome::Last | RunOutcome::Nothing => {
                self.callbacks[index].is_pending = false;
                if self.callbacks[index].is_timed {
                    self.update_due(index);
                }
            }
            RunOutcome::Failed => self.set_due(index, Some(monotonic_ns() + RETRY_AFTER_NS)),
        }
    }

    /// Lets news of a callback be reported again; `true` if they were not: then it must be looked at.
    fn unmute(&mut self, index: usize) -> bool {
        match (&mut self.collector, &mut self.callbacks[index].attachment) {
            (Some(collector), Some(attachment)) => collector.unmute(attachment),
            _ => false,
        }
    }

    /// The next time at which a callback becomes ready by itself or is tried again, CLOCK_MONOTONIC; `u64::MAX` if none
    /// will.
    pub(crate) fn next_due_ns(&self) -> u64 {
        self.due.first().map_or(u64::MAX, |&(due_ns, _)| due_ns)
    }

    /// The end of the next sleep: the next due time or `limit`; `Some(None)`: none of these, so only news ends it.
    /// `None`: a callback is ready, so there is no sleep.
    pub(crate) fn sleep_deadline(&self, limit: Option<Instant>) -> Option<Option<Instant>> {
        if self.ready.iter().any(|ready| !ready.is_empty()) {
            return None;
        }
        let due = self.due.first().and_then(|&(due_ns, _)| {
            Instant::now().checked_add(Duration::from_nanos(due_ns.saturating_sub(monotonic_ns())))
        });
        Some(limit.into_iter().chain(due).min())
    }

    /// Sleeps until there is news, or `limit`.
    pub(crate) fn sleep(&mut self, limit: Option<Instant>) -> Result<()> {
        if let Some(until) = self.sleep_deadline(limit)
            && let Some(collector) = &mut self.collector
        {
            collector.wait(until, || self.signal.should_wake())?;
        }
        Ok(())
    }
}

impl Drop for ReadyQueue {
    fn drop(&mut self) {
        let members = self.members.close();
        if let Some(collector) = &mut self.collector {
            self.callbacks.drain(..).for_each(|registered| drop(registered.detach(collector)));
        }
        let waker = self.signal.clone().into();
        for member in &members {
            member.detach(&waker);
            if context::is_shut_down() {
                member.clear(); // its callbacks run no more; one that owns its node would keep it for ever
            }
        }
        self.signal.set_bell(None);
    }
}

impl std::fmt::Debug for ReadyQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} nodes and groups, {} callbacks", self.registered_members.len(), self.callbacks.len())
    }
}

#[cfg(test)]
mod tests {
    use super::{super::wake_signal::CallbackWaker, *};
    use crate::{Clock, Node, Timer};
    use std::task::Wake;

    /// The cancel comes after the look whether there was one and before the gathering, which takes its notification.
    #[test]
    fn a_cancel_whose_notification_is_taken_ends_the_sleep() {
        let mut queue = ReadyQueue::default();
        let node = Node::builder("queue_tester").domain_id(crate::MAX_DOMAIN_ID).build().unwrap();
        queue.add(Member::Node(node.clone()), None).unwrap();
        queue.signal.cancel();
        queue.gather();
        let begin = Instant::now();
        queue.sleep(Some(begin + Duration::from_millis(900))).unwrap(); // less than a slice of sleep
        assert!(begin.elapsed() < Duration::from_millis(900), "it slept until the limit");
    }

    /// Another thread gathers after a callback's thread has looked and before it reports.
    #[test]
    fn news_that_is_gathered_during_a_run_that_finds_nothing_is_run() {
        let mut queue = ReadyQueue::default();
        let node = Node::builder("queue_tester").domain_id(crate::MAX_DOMAIN_ID).build().unwrap();
        node.add_callback(node.graph_events().unwrap(), |_, _| ());
        queue.add(Member::Node(node.clone()), None).unwrap();
        let mut indices = Vec::new();
        queue.gather();
        queue.take_ready(&mut indices);
        let running = queue.start(indices[0], Work::Take(TakeOrder::Turns));
        while running.callback.run(TakeOrder::Turns) != RunOutcome::Nothing {}
        let waker = CallbackWaker::new(&queue.signal, &running.callback);
        Arc::new(waker).wake();
        queue.gather();
        queue.finish(running, RunOutcome::Nothing);
        assert_eq!(queue.sleep_deadline(None), None);
        let running = queue.start(indices[0], Work::Take(TakeOrder::Turns));
        let outcome = running.callback.run(TakeOrder::Turns);
        queue.finish(running, outcome);
        queue.take_ready(&mut indices);
        assert_eq!(indices, [0, 0], "as often as there was news");
    }

    /// The time of the next tick is known without asking each timer, also after one was reset, ran or left.
    #[test]
    fn the_next_due_time_is_that_of_the_first_timer() {
        let (mut queue, hour) = (ReadyQueue::default(), Duration::from_secs(3600));
        let node = Node::builder("queue_tester").domain_id(crate::MAX_DOMAIN_ID).build().unwrap();
        let [first, second] = [1, 2].map(|hours| Timer::new(&Clock::steady(), hour * hours).unwrap());
        let handle = node.add_callback(first.clone(), |_, _| ());
        node.add_callback(second.clone(), |_, _| ());
        queue.add(Member::Node(node.clone()), None).unwrap();
        let mut due_in = || {
            let mut indices = Vec::new();
            queue.gather();
            queue.take_ready(&mut indices);
            indices.into_iter().for_each(|index| {
                queue.run(index, |callback| callback.run(TakeOrder::Turns));
            });
            Duration::from_nanos(queue.next_due_ns().saturating_sub(monotonic_ns()))
        };
        let hours = |due: Duration| due.as_secs_f64() / 3600.0;
        assert_eq!(hours(due_in()).ceil(), 1.0);
        first.cancel();
        assert_eq!(hours(due_in()).ceil(), 2.0);
        first.reset();
        assert_eq!(hours(due_in()).ceil(), 1.0);
        handle.remove();
        assert_eq!(hours(due_in()).ceil(), 2.0);
        second.cancel();
        assert!(hours(due_in()) > 1e3);
    }
}
