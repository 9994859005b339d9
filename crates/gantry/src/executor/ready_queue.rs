//! The ready queue: the callbacks that may have something to do, the time at which the next is due, and the sleep until
//! then.
//!
//! Invariants:
//! - A callback is *pending* from the moment that it may have something until a run finds nothing. Only gathering makes
//!   it pending.
//! - A callback that may have something and is not pending has set a bit of the collector, is due, or was notified
//!   (`WakeSignal`): each of these ends a sleep.

use super::{
    registered_callback::{NO_INDEX, RegisteredCallback},
    wake_signal::WakeSignal,
};
use crate::{
    callback::{Callback, RunOutcome},
    context,
    error::{Error, Result},
    log,
    node::Node,
    time::monotonic_ns,
};
use gantry_shm::Collector;
use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::{Duration, Instant},
};

/// The pause before a callback whose source failed is tried again.
const RETRY_AFTER: Duration = Duration::from_millis(100);

/// The callbacks of an executor's nodes, and which of them may run.
#[derive(Default)]
pub struct ReadyQueue {
    pub(crate) signal: Arc<WakeSignal>,
    nodes: Vec<RegisteredNode>,
    /// `None` without a node, and while a worker thread sleeps with it.
    pub(crate) collector: Option<Collector>,
    /// In the order of registration.
    callbacks: Vec<RegisteredCallback>,
    /// Indices of callbacks, by the bit of the collector; empty before the first registration.
    by_bit: Vec<Vec<usize>>,
    /// Indices of callbacks that become ready by time.
    timed: Vec<usize>,
    /// Indices of pending callbacks that are not taken for a run yet.
    ready: Vec<usize>,
    /// Indices of pending callbacks whose source failed: they rest until `retry`.
    failed: Vec<usize>,
    retry: Option<Instant>,
    next_due_ns: Option<u64>,
    /// The callback that [`ReadyQueue::run`] runs, or that panicked in it.
    current: Option<usize>,
    /// Callbacks have other indices than at the last gathering.
    is_changed: bool,
}

struct RegisteredNode {
    node: Node,
    /// The version of the node's callbacks that `callbacks` holds.
    version: Option<u64>,
}

/// A callback that was started: [`ReadyQueue::finish`] takes it.
#[must_use = "a run that is not finished keeps its callback from running again"]
pub(crate) struct Running {
    pub(crate) callback: Arc<Callback>,
}

impl ReadyQueue {
    pub(crate) fn add_node(&mut self, node: &Node) -> Result<()> {
        if let Some(RegisteredNode { node: other, .. }) = self.nodes.first()
            && !Arc::ptr_eq(other.participant(), node.participant())
        {
            let (executors, domain_id) = (other.domain_id(), node.domain_id());
            return Err(Error::ForeignNode { node: node.fully_qualified_name(), domain_id, executors });
        }
        let collector = if self.collector.is_none() { Some(Collector::new(node.participant())?) } else { None };
        if !node.callbacks().attach_executor(&self.signal.clone().into()) {
            return Err(Error::NodeInUse { node: node.fully_qualified_name() });
        }
        if let Some(collector) = collector {
            self.signal.set_bell(Some(collector.bell()));
            self.collector = Some(collector);
        }
        log::debug(&node.fully_qualified_name(), "an executor has this node");
        self.nodes.push(RegisteredNode { node: node.clone(), version: None });
        Ok(())
    }

    pub(crate) fn remove_node(&mut self, node: &Node) {
        let Some(index) = self.nodes.iter().position(|other| Arc::ptr_eq(other.node.callbacks(), node.callbacks()))
        else {
            return;
        };
        self.nodes.remove(index);
        self.update_callbacks();
        node.callbacks().detach_executor();
        if self.nodes.is_empty() {
            // The next node may be of another domain.
            self.collector = None;
            self.signal.set_bell(None);
        }
    }

    /// Refuses to spin without a node.
    pub(crate) fn check(&self) -> Result<()> {
        if self.nodes.is_empty() { Err(Error::NoNode) } else { Ok(()) }
    }

    /// Registers the nodes' current callbacks. All become pending: their sources were not looked at yet.
    fn update_callbacks(&mut self) {
        let Some(collector) = &mut self.collector else { return };
        let mut current = Vec::new();
        for RegisteredNode { node, version } in &mut self.nodes {
            *version = Some(node.callbacks().version()); // first: a later change raises it again
            current.extend(node.callbacks().all());
        }
        let mut old = std::mem::take(&mut self.callbacks);
        for callback in current {
            let known = old.iter().position(|registered| Arc::ptr_eq(&registered.callback, &callback));
            let attach = || RegisteredCallback::attach(callback, &self.signal, collector);
            let registered = known.map(|index| old.swap_remove(index)).unwrap_or_else(attach);
            self.callbacks.push(registered);
        }
        old.into_iter().for_each(|registered| registered.detach(collector));
        self.by_bit = vec![Vec::new(); Collector::BITS];
        (self.timed, self.failed, self.retry, self.current) = (Vec::new(), Vec::new(), None, None);
        for (index, registered) in self.callbacks.iter_mut().enumerate() {
            registered.is_pending = true;
            registered.callback.index.store(index, Relaxed);
            if let Some(attachment) = &registered.attachment {
                self.by_bit[attachment.bit()].push(index);
            }
            if registered.is_timed {
                self.timed.push(index);
            }
        }
        self.is_changed = true;
        // The thread that runs a callback reports it.
        self.ready = (0..self.callbacks.len()).filter(|&index| !self.callbacks[index].is_running).collect();
    }

    /// Makes the callbacks pending that may have something. Returns whether callbacks have other indices than at the
    /// last gathering.
    pub(crate) fn gather(&mut self) -> bool {
        if self.nodes.iter().any(|RegisteredNode { node, version }| *version != Some(node.callbacks().version())) {
            self.update_callbacks();
        }
        if let Some(index) = self.current.take() {
            self.report(index, RunOutcome::More);
        }
        let ReadyQueue { collector, callbacks, by_bit, ready, .. } = self;
        if self.signal.take_notified() {
            for index in 0..callbacks.len() {
                if callbacks[index].callback.take_notified() {
                    set_pending(callbacks, ready, index);
                }
            }
        }
        if let Some(collector) = collector {
            collector.collect(|bit| by_bit[bit].iter().for_each(|&index| set_pending(callbacks, ready, index)));
        }
        if self.retry.is_some_and(|retry| retry <= Instant::now()) {
            self.ready.append(&mut self.failed);
            self.retry = None;
        }
        self.set_due_pending();
        std::mem::take(&mut self.is_changed)
    }

    /// Makes the callbacks pending that are due, and finds the time at which the next is due.
    fn set_due_pending(&mut self) {
        self.next_due_ns = None;
        if self.timed.is_empty() {
            return;
        }
        let (now_ns, ReadyQueue { callbacks, timed, ready, next_due_ns, .. }) = (monotonic_ns(), self);
        for &index in timed.iter() {
            // A running callback is pending, so its mutex is never waited for.
            if callbacks[index].is_pending {
                continue;
            }
            let due_ns = callbacks[index].callback.lock().waitable().due_ns();
            match due_ns {
                Some(due_ns) if due_ns <= now_ns => set_pending(callbacks, ready, index),
                due_ns => *next_due_ns = due_ns.into_iter().chain(*next_due_ns).min(),
            }
        }
    }

    /// The callback at that index.
    pub(crate) fn registered(&self, index: usize) -> &RegisteredCallback {
        &self.callbacks[index]
    }

    /// Runs a callback on the thread that gathers, and reports the outcome: whether the callback ran. A panic is reported
    /// at the next gathering.
    pub(crate) fn run(&mut self, index: usize, run: impl FnOnce(&Callback) -> RunOutcome) -> bool {
        self.current = Some(index);
        let outcome = run(&self.callbacks[index].callback);
        self.current = None;
        self.report(index, outcome);
        matches!(outcome, RunOutcome::More | RunOutcome::Last)
    }

    /// Starts the run of a callback on another thread than the one that gathers.
    pub(crate) fn start(&mut self, index: usize) -> Running {
        self.callbacks[index].is_running = true;
        Running { callback: self.callbacks[index].callback.clone() }
    }

    /// Makes all kept values the next ones to be taken.
    pub(crate) fn return_queued(&self) {
        self.callbacks.iter().for_each(|registered| registered.callback.lock().return_queued());
    }

    /// Ends a run. Returns whether the next sleep may have to end earlier than before the run.
    pub(crate) fn finish(&mut self, Running { callback }: Running, outcome: RunOutcome) -> bool {
        let index = callback.index.load(Relaxed);
        if index == NO_INDEX {
            return outcome == RunOutcome::Failed;
        }
        let registered = &mut self.callbacks[index];
        registered.is_running = false;
        let (has_news, is_timed) = (std::mem::take(&mut registered.has_news), registered.is_timed);
        let is_over = matches!(outcome, RunOutcome::Last | RunOutcome::Nothing);
        self.report(index, if is_over && has_news { RunOutcome::More } else { outcome });
        is_timed || outcome == RunOutcome::Failed
    }

    /// Takes the ready callbacks in the order of registration. Each is to be run and reported.
    pub(crate) fn take_ready(&mut self, into: &mut impl Extend<usize>) {
        self.ready.sort_unstable();
        into.extend(self.ready.drain(..));
    }

    /// Records the outcome of a run.
    pub(crate) fn report(&mut self, index: usize, outcome: RunOutcome) {
        match outcome {
            RunOutcome::More | RunOutcome::Skipped => self.ready.push(index),
            RunOutcome::Last | RunOutcome::Nothing => self.callbacks[index].is_pending = false,
            RunOutcome::Failed => {
                self.failed.push(index);
                self.retry.get_or_insert_with(|| Instant::now() + RETRY_AFTER);
            }
        }
    }

    /// The end of the next sleep: the next due time, the next retry or `limit`; `Some(None)`: none of these, so only
    /// news ends it. `None`: a callback is ready, so there is no sleep.
    pub(crate) fn sleep_deadline(&mut self, limit: Option<Instant>) -> Option<Option<Instant>> {
        self.set_due_pending(); // callbacks that ran since the gathering were left out
        if !self.ready.is_empty() {
            return None;
        }
        let until_ns = self.next_due_ns.map(|due_ns| due_ns.saturating_sub(monotonic_ns()));
        let due = until_ns.and_then(|ns| Instant::now().checked_add(Duration::from_nanos(ns)));
        Some(limit.into_iter().chain(due).chain(self.retry).min())
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

fn set_pending(callbacks: &mut [RegisteredCallback], ready: &mut Vec<usize>, index: usize) {
    let registered = &mut callbacks[index];
    if registered.is_running {
        registered.has_news = true;
    } else if !std::mem::replace(&mut registered.is_pending, true) {
        ready.push(index);
    }
}

impl Drop for ReadyQueue {
    fn drop(&mut self) {
        while let Some(registered) = self.nodes.first() {
            let node = registered.node.clone();
            self.remove_node(&node);
            if context::is_shut_down() {
                node.callbacks().clear(); // they run no more; one that owns its node would keep it for ever
            }
        }
    }
}

impl std::fmt::Debug for ReadyQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} nodes, {} callbacks", self.nodes.len(), self.callbacks.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clock, Timer};

    /// The cancel comes after the look whether there was one and before the gathering, which takes its notification.
    #[test]
    fn a_cancel_whose_notification_is_taken_ends_the_sleep() {
        let mut queue = ReadyQueue::default();
        let node = Node::builder("queue_tester").domain_id(crate::MAX_DOMAIN_ID).build().unwrap();
        queue.add_node(&node).unwrap();
        queue.signal.cancel();
        queue.gather();
        let begin = Instant::now();
        queue.sleep(Some(begin + Duration::from_millis(900))).unwrap(); // less than a slice of sleep
        assert!(begin.elapsed() < Duration::from_millis(900), "it slept until the limit");
    }

    /// Another thread gathers after a callback's thread has looked and before it reports.
    #[test]
    fn news_that_is_gathered_during_a_run_that_finds_nothing_is_run() {
        let (clock, mut queue) = (Clock::manual(Duration::ZERO), ReadyQueue::default());
        let node = Node::builder("queue_tester").domain_id(crate::MAX_DOMAIN_ID).build().unwrap();
        node.add_callback(Timer::new(&clock, Duration::from_secs(1)).unwrap(), |_, _| ());
        queue.add_node(&node).unwrap();
        let mut indices = Vec::new();
        queue.gather();
        queue.take_ready(&mut indices);
        let running = queue.start(indices[0]);
        assert_eq!(running.callback.run(), RunOutcome::Nothing);
        running.callback.notify();
        queue.signal.wake_executor();
        queue.gather();
        queue.finish(running, RunOutcome::Nothing);
        assert_eq!(queue.sleep_deadline(None), None);
        let running = queue.start(indices[0]);
        let outcome = running.callback.run();
        queue.finish(running, outcome);
        queue.take_ready(&mut indices);
        assert_eq!(indices, [0, 0], "as often as there was news");
    }
}
