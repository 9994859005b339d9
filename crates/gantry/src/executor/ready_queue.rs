//! What all executors have in common: which callbacks may have something to do, when the next is due, and sleeping until then.
//!
//! Used by `single`, `events` and `multi`, each of which gathers, runs, reports what came of it, and rests when nothing is left.
//! Invariants:
//! - A callback is *marked* from the moment that it may have something until a run finds nothing; only gathering marks.
//! - Whatever happens without a mark is a bit of the collector, the time, or told (`told`): one of them ends a rest.

use super::{
    registered_callback::{Member, NOWHERE},
    wake_signal::Told,
};
use crate::{
    callback::{Callback, Ran},
    error::{Error, Result},
    node::Node,
    time::monotonic_ns,
};
use gantry_shm::Collector;
use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::{Duration, Instant},
};

/// How long a callback whose source failed is left alone.
const RETRY_AFTER: Duration = Duration::from_millis(100);

/// The callbacks of an executor's nodes.
pub struct Turn {
    pub(crate) told: Arc<Told>,
    nodes: Vec<Hosted>,
    /// `None`: there was no node yet, or `multi` sleeps with it.
    pub(crate) collector: Option<Collector>,
    /// In the order of registration.
    members: Vec<Member>,
    /// Places of members, by the bit of the collector.
    by_bit: Vec<Vec<usize>>,
    /// Places of members that become ready by themselves.
    timed: Vec<usize>,
    /// Places of marked members that wait for their run.
    ready: Vec<usize>,
    /// Places of marked members whose source failed, which are left alone until then.
    failed: Vec<usize>,
    retry: Option<Instant>,
    next_due_ns: Option<u64>,
    /// Members have other places than at the last gathering.
    is_changed: bool,
}

struct Hosted {
    node: Node,
    /// What of its callbacks is known here.
    version: Option<u64>,
}

impl Turn {
    pub(crate) fn new() -> Turn {
        Turn {
            told: Arc::default(),
            nodes: Vec::new(),
            collector: None,
            members: Vec::new(),
            by_bit: vec![Vec::new(); Collector::BITS],
            timed: Vec::new(),
            ready: Vec::new(),
            failed: Vec::new(),
            retry: None,
            next_due_ns: None,
            is_changed: false,
        }
    }

    pub(crate) fn add_node(&mut self, node: &Node) -> Result<()> {
        if let Some(Hosted { node: other, .. }) = self.nodes.first()
            && !Arc::ptr_eq(other.participant(), node.participant())
        {
            let (executors, domain_id) = (other.domain_id(), node.domain_id());
            return Err(Error::ForeignNode { node: node.fully_qualified_name(), domain_id, executors });
        }
        let collector = if self.collector.is_none() { Some(Collector::new(node.participant())?) } else { None };
        if !node.callbacks().give_to(&self.told.clone().into()) {
            return Err(Error::NodeInUse { node: node.fully_qualified_name() });
        }
        if let Some(collector) = collector {
            *self.told.bell() = Some(collector.bell());
            self.collector = Some(collector);
        }
        tracing::debug!(node = node.fully_qualified_name(), "an executor has this node");
        self.nodes.push(Hosted { node: node.clone(), version: None });
        Ok(())
    }

    pub(crate) fn remove_node(&mut self, node: &Node) {
        let Some(place) = self.nodes.iter().position(|hosted| Arc::ptr_eq(hosted.node.callbacks(), node.callbacks()))
        else {
            return;
        };
        self.nodes.remove(place);
        self.update_members();
        node.callbacks().take_back();
        if self.nodes.is_empty() {
            // The next node may be of another domain.
            (self.collector, *self.told.bell()) = (None, None);
        }
    }

    /// Refuses to spin without a node.
    pub(crate) fn check(&self) -> Result<()> {
        if self.nodes.is_empty() { Err(Error::NoNode) } else { Ok(()) }
    }

    /// Makes `members` what the nodes' callbacks are now. All are marked: whatever they have was not looked at.
    fn update_members(&mut self) {
        let Some(collector) = &mut self.collector else { return };
        let mut callbacks = Vec::new();
        for hosted in &mut self.nodes {
            hosted.version = Some(hosted.node.callbacks().version()); // first: what comes after it raises it again
            callbacks.extend(hosted.node.callbacks().all());
        }
        let mut old = std::mem::take(&mut self.members);
        for callback in callbacks {
            let known = old.iter().position(|member| Arc::ptr_eq(&member.callback, &callback));
            let member =
                known.map_or_else(|| Member::attach(callback, &self.told, collector), |place| old.swap_remove(place));
            self.members.push(member);
        }
        old.into_iter().for_each(|member| member.detach(collector));
        self.by_bit.iter_mut().for_each(Vec::clear);
        (self.timed, self.failed, self.retry) = (Vec::new(), Vec::new(), None);
        for (place, member) in self.members.iter_mut().enumerate() {
            member.is_marked = true;
            member.callback.place.store(place, Relaxed);
            if let Some(attachment) = &member.attachment {
                self.by_bit[attachment.bit()].push(place);
            }
            if member.is_timed {
                self.timed.push(place);
            }
        }
        self.is_changed = true;
        // Who runs is reported by whoever runs it.
        self.ready = (0..self.members.len()).filter(|&place| !self.members[place].is_running).collect();
    }

    /// Marks what may have something to do. Returns whether members have other places than at the last gathering.
    pub(crate) fn gather(&mut self) -> bool {
        if self.nodes.iter().any(|hosted| hosted.version != Some(hosted.node.callbacks().version())) {
            self.update_members();
        }
        let Turn { collector, members, by_bit, ready, .. } = self;
        if self.told.take_news() {
            for place in 0..members.len() {
                if members[place].callback.was_told() {
                    mark(members, ready, place);
                }
            }
        }
        if let Some(collector) = collector {
            collector.collect(|bit| by_bit[bit].iter().for_each(|&place| mark(members, ready, place)));
        }
        if self.retry.is_some_and(|retry| retry <= Instant::now()) {
            self.ready.append(&mut self.failed);
            self.retry = None;
        }
        self.mark_due();
        std::mem::take(&mut self.is_changed)
    }

    /// Marks whose time has come, and notes when the next comes.
    fn mark_due(&mut self) {
        self.next_due_ns = None;
        if self.timed.is_empty() {
            return;
        }
        let (now_ns, Turn { members, timed, ready, next_due_ns, .. }) = (monotonic_ns(), self);
        for &place in timed.iter() {
            // Nobody waits for one that runs, which is marked.
            if members[place].is_marked {
                continue;
            }
            let due_ns = members[place].callback.body().waitable().due_ns();
            match due_ns {
                Some(due_ns) if due_ns <= now_ns => mark(members, ready, place),
                due_ns => *next_due_ns = due_ns.into_iter().chain(*next_due_ns).min(),
            }
        }
    }

    /// The member at that place.
    pub(crate) fn member(&self, place: usize) -> &Member {
        &self.members[place]
    }

    /// The callback of a member, which runs from now on: [`Turn::ran`] is to follow.
    pub(crate) fn start(&mut self, place: usize) -> Arc<Callback> {
        self.members[place].is_running = true;
        self.members[place].callback.clone()
    }

    /// Leaves what callbacks kept to be taken again.
    pub(crate) fn give_back(&self) {
        self.members.iter().for_each(|member| member.callback.body().give_back());
    }

    /// Whether a rest may have to end earlier than was thought before the callback ran.
    pub(crate) fn changes_rest(&self, callback: &Callback, ran: Ran) -> bool {
        let place = callback.place.load(Relaxed);
        ran == Ran::Failed || self.members.get(place).is_some_and(|member| member.is_timed)
    }

    /// Its run is over, and came to this.
    pub(crate) fn ran(&mut self, callback: &Callback, ran: Ran) {
        let place = callback.place.load(Relaxed);
        if place != NOWHERE {
            let member = &mut self.members[place];
            member.is_running = false;
            let has_news = std::mem::take(&mut member.has_news);
            self.report(place, if matches!(ran, Ran::Last | Ran::Nothing) && has_news { Ran::Once } else { ran });
        }
    }

    /// Takes the marked members that wait for their run, in the order of registration; what became of each is to be reported.
    pub(crate) fn take_ready(&mut self, into: &mut impl Extend<usize>) {
        self.ready.sort_unstable();
        into.extend(self.ready.drain(..));
    }

    /// What a run came to.
    pub(crate) fn report(&mut self, place: usize, ran: Ran) {
        match ran {
            Ran::Once | Ran::PassedOver => self.ready.push(place),
            Ran::Last | Ran::Nothing => self.members[place].is_marked = false,
            Ran::Failed => {
                self.failed.push(place);
                self.retry.get_or_insert_with(|| Instant::now() + RETRY_AFTER);
            }
        }
    }

    /// Until when to rest: when the next is due or something is tried again, or `limit`; `None` in it: until there is news. Not at all
    /// if something is marked and waits.
    pub(crate) fn rest_until(&mut self, limit: Option<Instant>) -> Option<Option<Instant>> {
        self.mark_due(); // those that ran since were passed over
        if !self.ready.is_empty() {
            return None;
        }
        let until_ns = self.next_due_ns.map(|due_ns| due_ns.saturating_sub(monotonic_ns()));
        let due = until_ns.and_then(|ns| Instant::now().checked_add(Duration::from_nanos(ns)));
        Some(limit.into_iter().chain(due).chain(self.retry).min())
    }

    /// Rests until there is news, or `limit`.
    pub(crate) fn rest(&mut self, limit: Option<Instant>) -> Result<()> {
        if let Some(until) = self.rest_until(limit)
            && let Some(collector) = &mut self.collector
        {
            collector.wait(until, || self.told.is_news())?;
        }
        Ok(())
    }
}

fn mark(members: &mut [Member], ready: &mut Vec<usize>, place: usize) {
    let member = &mut members[place];
    if member.is_running {
        member.has_news = true;
    } else if !std::mem::replace(&mut member.is_marked, true) {
        ready.push(place);
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        while let Some(hosted) = self.nodes.first() {
            let node = hosted.node.clone();
            self.remove_node(&node);
        }
    }
}

impl std::fmt::Debug for Turn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} nodes, {} callbacks", self.nodes.len(), self.members.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clock, Timer};

    /// It comes between the look whether one came and the gathering, which takes its news.
    #[test]
    fn a_cancel_whose_news_is_taken_ends_the_rest() {
        let mut turn = Turn::new();
        let node = Node::builder("turn_tester").domain_id(crate::MAX_DOMAIN_ID).build().unwrap();
        turn.add_node(&node).unwrap();
        turn.told.cancel();
        turn.gather();
        let begin = Instant::now();
        turn.rest(Some(begin + Duration::from_millis(900))).unwrap(); // less than a slice of sleep
        assert!(begin.elapsed() < Duration::from_millis(900), "it slept until the limit");
    }

    /// Another thread gathers while a callback's thread has looked and not yet reported.
    #[test]
    fn what_is_gathered_during_a_run_that_finds_nothing_is_run() {
        let (clock, mut turn) = (Clock::manual(Duration::ZERO), Turn::new());
        let node = Node::builder("turn_tester").domain_id(crate::MAX_DOMAIN_ID).build().unwrap();
        node.add_callback(Timer::new(&clock, Duration::from_secs(1)).unwrap(), |_, _| ());
        turn.add_node(&node).unwrap();
        let mut places = Vec::new();
        turn.gather();
        turn.take_ready(&mut places);
        let callback = turn.start(places[0]);
        assert_eq!(callback.run(), Ran::Nothing);
        callback.tell();
        turn.told.tell();
        turn.gather();
        turn.ran(&callback, Ran::Nothing);
        assert_eq!(turn.rest_until(None), None);
        let callback = turn.start(places[0]);
        turn.ran(&callback, callback.run());
        turn.take_ready(&mut places);
        assert_eq!(places, [0, 0], "as often as there was news");
    }
}
