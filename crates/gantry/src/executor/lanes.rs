//! The order in which several threads run callbacks: by priority, then first come, first served, and one callback of a
//! mutually exclusive group at a time.
//!
//! A *lane* holds the ready callbacks of such a group, or one callback of a reentrant group. Invariants:
//! - A lane is in `runnable` if it has a ready callback and none that runs, under the arrival of its first callback. So
//!   the callbacks behind a busy group are not looked at, however many they are.
//! - A ready callback that is held up keeps its place: it goes before all that arrived later.

use super::{
    order::Order,
    ready_queue::{ReadyQueue, Running, Work},
};
use crate::callback::{CallbackGroupType, RunOutcome, TakeOrder};
use std::{
    collections::{BTreeMap, VecDeque},
    sync::atomic::Ordering::Relaxed,
};

/// The ready callbacks of an executor.
#[derive(Default)]
pub(super) struct Lanes {
    pub(super) ready_queue: ReadyQueue,
    /// The arrivals and indices of the ready callbacks of each lane.
    lanes: Vec<VecDeque<(u64, usize)>>,
    /// The lanes of which a callback may run, by the level of their priority and the arrival of the callback.
    runnable: BTreeMap<(usize, u64), usize>,
    /// The number of arrivals.
    arrivals: u64,
    /// Empty: room for the callbacks that a gathering finds.
    found: Vec<usize>,
}

impl Lanes {
    /// Makes a lane runnable if it has a ready callback and none that runs.
    fn enter(&mut self, lane: usize) {
        let Some(&(arrival, index)) = self.lanes[lane].front() else { return };
        let registered = self.ready_queue.registered(index);
        if !registered.callback.group.is_busy.load(Relaxed) {
            self.runnable.insert((registered.level, arrival), lane);
        }
    }

    /// Takes the next callback that may run off its lane, which leaves `runnable`.
    fn take_next(&mut self) -> Option<usize> {
        let (_, lane) = self.runnable.pop_first()?;
        self.lanes[lane].pop_front().map(|(_, index)| index)
    }

    /// Runs the next callback that has something on this thread.
    pub(super) fn step(&mut self) -> bool {
        while let Some(index) = self.take_next() {
            self.enter(self.ready_queue.registered(index).lane);
            if self.ready_queue.run(index, |callback| callback.run(TakeOrder::Turns)) {
                return true;
            }
        }
        false
    }
}

impl Order for Lanes {
    fn ready_queue(&mut self) -> &mut ReadyQueue {
        &mut self.ready_queue
    }

    fn gather(&mut self) {
        if self.ready_queue.gather() {
            // The callbacks changed: all are pending.
            self.lanes = vec![VecDeque::new(); self.ready_queue.lanes()];
            self.runnable.clear();
        }
        let mut found = std::mem::take(&mut self.found);
        self.ready_queue.take_ready(&mut found);
        for index in found.drain(..) {
            let lane = self.ready_queue.registered(index).lane;
            self.lanes[lane].push_back((self.arrivals, index));
            self.arrivals += 1;
            if self.lanes[lane].len() == 1 {
                self.enter(lane);
            }
        }
        self.found = found;
    }

    fn has_more(&self) -> bool {
        !self.runnable.is_empty()
    }

    fn start(&mut self) -> Option<Running> {
        let index = self.take_next()?;
        let running = self.ready_queue.start(index, Work::Take(TakeOrder::Turns));
        let group = &running.callback.group;
        group.is_busy.store(group.kind == CallbackGroupType::MutuallyExclusive, Relaxed);
        Some(running)
    }

    fn finish(&mut self, running: Running, outcome: RunOutcome) {
        let group = running.callback.group.clone();
        group.is_busy.store(false, Relaxed);
        self.ready_queue.finish(running, outcome);
        if group.kind == CallbackGroupType::MutuallyExclusive
            && let Some(lane) = self.ready_queue.lane_of(&group)
        {
            self.enter(lane);
        }
    }
}
