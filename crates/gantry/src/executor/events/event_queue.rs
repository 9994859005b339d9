//! The bounded queue of the events executor: events in the order of priority and time.
//!
//! Each event is also in a *lane* if several threads run callbacks. The events of a lane run one at a time. The
//! callbacks of a mutually exclusive group share a lane; each callback of a reentrant group has its own lane.
//! Invariant: the first event of a lane is in `runnable` if no callback of the lane runs.

use crate::{
    callback::{CallbackGroupType, EventKey, KeptEvent, RunOutcome},
    executor::{
        ready_queue::{ReadyQueue, Running, Work},
        worker_pool::Order,
    },
    time::monotonic_ns,
};
use gantry_shm::MAX_DEPTH;
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::atomic::Ordering::Relaxed,
};

/// The rule for new events while the queue is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overflow {
    /// Events stay at their source, and each callback has at most one event in the queue. The order is the same as with
    /// a larger queue, and callbacks get the newest samples that QoS allows.
    ///
    /// Samples stay in their publishers' histories. There KEEP_LAST drops the oldest, counted as
    /// [`overwritten`](crate::GenericSubscription::overwritten); with KEEP_ALL the publisher waits. Ticks stay in their
    /// timers, which count overruns.
    #[default]
    Wait,
    /// All samples are queued. If the queue is full, the oldest sample of the lowest priority is dropped and counted as
    /// [`dropped`](crate::EventsExecutor::dropped). Other events (ticks, requests, QoS events) wait at their source as
    /// with [`Overflow::Wait`] and need no room in the queue.
    DropOldest,
    /// As [`Overflow::DropOldest`], but the newest sample of the lowest priority is dropped.
    DropNewest,
}

/// The events of an executor.
#[derive(Default)]
pub(super) struct EventQueue {
    pub(super) ready_queue: ReadyQueue,
    events: BTreeMap<Key, Event>,
    /// The number of queued events that may be dropped.
    lossy: usize,
    /// The memory that the samples of the droppable events occupy.
    lossy_bytes: usize,
    pub(super) capacity: usize,
    pub(super) max_bytes: usize,
    pub(super) overflow: Overflow,
    /// The number given to the newest event. Events of the same time are sorted by this number.
    found: u64,
    pub(super) dropped: u64,
    /// The indices of ready callbacks whose sources are read as soon as the queue has room.
    indices: VecDeque<usize>,
    /// The index of the only ready callback while the queue is empty. This callback runs without being queued.
    only: Option<usize>,
    /// The events by lane, while several threads run callbacks.
    lanes: Option<EventLanes>,
}

/// The events of each lane.
#[derive(Default)]
struct EventLanes {
    lanes: Vec<BTreeSet<Key>>,
    runnable: BTreeMap<Key, usize>,
}

/// The order of events: the callback's priority, then the key of the callback's kept value.
type Key = (Reverse<i32>, EventKey);

/// An event in the queue. The event's value is kept by its callback.
struct Event {
    index: usize,
    size_bytes: usize,
    /// Whether the event may be dropped. If so, its callback may have several events in the queue, and its source is
    /// read again at each news. Otherwise this is the callback's only event, and its source is read again after the
    /// callback's run.
    is_lossy: bool,
}

impl EventQueue {
    pub(super) fn new(capacity: usize, max_bytes: usize, overflow: Overflow) -> EventQueue {
        EventQueue { capacity, max_bytes, overflow, ..EventQueue::default() }
    }

    /// The number of events.
    pub(super) fn len(&self) -> usize {
        self.events.len()
    }

    fn has_room(&self) -> bool {
        self.overflow != Overflow::Wait || self.events.len() < self.capacity
    }

    /// Takes one value from a callback's source and adds its event to the queue.
    fn enqueue(&mut self, index: usize, is_lossy: bool) -> Result<KeptEvent, RunOutcome> {
        self.found += 1;
        let callback = &self.ready_queue.registered(index).callback;
        let kept = callback.enqueue(self.found)?;
        let event = Event { index, size_bytes: kept.size_bytes, is_lossy };
        self.insert((Reverse(callback.group.priority()), kept.key), event);
        Ok(kept)
    }

    /// Queues the values of a callback's source that are older than this call, and at most one full history. Without
    /// these limits, a fast publisher could keep the executor in this loop.
    fn enqueue_all(&mut self, index: usize) {
        let now_ns = monotonic_ns();
        for _ in 0..MAX_DEPTH {
            let KeptEvent { key: (time_ns, _), size_bytes } = match self.enqueue(index, true) {
                Ok(kept) => kept,
                Err(outcome) => return self.ready_queue.report(index, outcome),
            };
            self.lossy += 1;
            self.lossy_bytes += size_bytes;
            while (self.lossy > self.capacity || self.lossy > 1 && self.lossy_bytes > self.max_bytes) && self.drop_one()
            {
            }
            if time_ns >= now_ns {
                break;
            }
        }
        self.ready_queue.report(index, RunOutcome::More);
    }

    /// Drops the oldest or the newest sample of the lowest priority. Skips samples of a running callback, because its
    /// values are locked. Returns whether a sample was dropped.
    fn drop_one(&mut self) -> bool {
        let may_drop =
            |(_, event): &(&Key, &Event)| event.is_lossy && !self.ready_queue.registered(event.index).is_running;
        let Some((&newest, _)) = self.events.iter().rev().find(may_drop) else { return false };
        let of_lowest = || self.events.range((newest.0, EventKey::default())..).find(may_drop);
        let oldest = (self.overflow == Overflow::DropOldest).then(of_lowest).flatten();
        let key = oldest.map_or(newest, |(&oldest, _)| oldest);
        let Some(event) = self.remove(&key) else { return false };
        let registered = self.ready_queue.registered(event.index);
        registered.callback.lock().discard(key.1);
        self.enter(registered.lane);
        self.dropped += 1;
        true
    }

    fn insert(&mut self, key: Key, event: Event) {
        if let Some(lanes) = &mut self.lanes {
            lanes.insert(key, event.index, &self.ready_queue);
        }
        self.events.insert(key, event);
    }

    fn remove(&mut self, key: &Key) -> Option<Event> {
        let event = self.events.remove(key)?;
        if event.is_lossy {
            self.lossy -= 1;
            self.lossy_bytes -= event.size_bytes;
        }
        if let Some(lanes) = &mut self.lanes {
            let lane = self.ready_queue.registered(event.index).lane;
            lanes.remove(key, lane);
        }
        Some(event)
    }

    /// Makes the first event of a lane runnable if no callback of the lane runs.
    fn enter(&mut self, lane: usize) {
        let Some(lanes) = &mut self.lanes else { return };
        if let Some(first) = lanes.lanes[lane].first()
            && let Some(event) = self.events.get(first)
            && !is_busy(&self.ready_queue, event.index)
        {
            lanes.runnable.insert(*first, lane);
        }
    }

    /// Begins a spin on several threads.
    pub(super) fn begin_threads(&mut self) {
        self.gather(); // the callbacks may have changed
        if let Some(index) = self.only.take() {
            self.ready_queue.report(index, RunOutcome::More);
        }
        let mut lanes = EventLanes::new(self.ready_queue.lanes());
        for (key, event) in &self.events {
            lanes.insert(*key, event.index, &self.ready_queue);
        }
        self.lanes = Some(lanes);
    }

    /// Ends a spin on several threads.
    pub(super) fn end_threads(&mut self) {
        self.lanes = None;
    }

    /// Empties the queue after the callbacks' indices changed. All callbacks become pending, and first take the values
    /// that they keep.
    fn clear(&mut self) {
        self.ready_queue.return_queued();
        self.events.clear();
        self.indices.clear();
        (self.lossy, self.lossy_bytes, self.only) = (0, 0, None);
        self.lanes = self.lanes.as_ref().map(|_| EventLanes::new(self.ready_queue.lanes()));
    }

    /// Runs the next event on this thread.
    pub(super) fn step(&mut self) -> bool {
        if let Some(index) = self.only.take() {
            return self.ready_queue.run(index, |callback| callback.run());
        }
        while let Some((&key, _)) = self.events.first_key_value()
            && let Some(Event { index, is_lossy, .. }) = self.remove(&key)
        {
            if is_lossy {
                let outcome = self.ready_queue.run_reported(index, |callback| callback.run_queued(key.1));
                if matches!(outcome, RunOutcome::More | RunOutcome::Last) {
                    return true; // the callback was reported when its event was queued
                }
            } else if self.ready_queue.run(index, |callback| callback.run_queued(key.1)) {
                return true;
            }
        }
        false
    }
}

impl EventLanes {
    fn new(lanes: usize) -> EventLanes {
        EventLanes { lanes: vec![BTreeSet::new(); lanes], runnable: BTreeMap::new() }
    }

    fn insert(&mut self, key: Key, index: usize, ready_queue: &ReadyQueue) {
        let lane = ready_queue.registered(index).lane;
        let first = self.lanes[lane].first().copied();
        self.lanes[lane].insert(key);
        if first.is_none_or(|first| key < first) && !is_busy(ready_queue, index) {
            first.map(|first| self.runnable.remove(&first));
            self.runnable.insert(key, lane);
        }
    }

    fn remove(&mut self, key: &Key, lane: usize) {
        self.lanes[lane].remove(key);
        self.runnable.remove(key);
    }
}

/// Whether the callback at `index`, or another callback of its lane, runs.
fn is_busy(ready_queue: &ReadyQueue, index: usize) -> bool {
    let registered = ready_queue.registered(index);
    registered.is_running || registered.callback.group.is_busy.load(Relaxed)
}

impl Order for EventQueue {
    fn ready_queue(&mut self) -> &mut ReadyQueue {
        &mut self.ready_queue
    }

    fn gather(&mut self) {
        if self.ready_queue.gather() {
            self.clear();
        }
        // A cancel prevented the run of the callback in `only`, so this callback becomes ready again.
        if let Some(index) = self.only.take() {
            self.ready_queue.report(index, RunOutcome::More);
        }
        self.ready_queue.take_ready(&mut self.indices);
        let are_some_left = self.overflow == Overflow::Wait && self.events.len() + self.indices.len() > self.capacity;
        if are_some_left && self.ready_queue.levels() > 1 {
            // The sort is stable: among callbacks of the same priority, the callback that has waited longest for
            // room stays first.
            let priority = |index: &usize| Reverse(self.ready_queue.registered(*index).callback.group.priority());
            self.indices.make_contiguous().sort_by_key(priority);
        } else if self.overflow == Overflow::Wait
            && self.lanes.is_none()
            && self.events.is_empty()
            && self.indices.len() == 1
        {
            self.only = self.indices.pop_front();
        }
        let mut running = Vec::new();
        while self.has_room()
            && let Some(index) = self.indices.pop_front()
        {
            if self.ready_queue.registered(index).is_running {
                running.push(index); // its next events are queued at the end of its run
            } else if self.overflow != Overflow::Wait && self.ready_queue.registered(index).is_lossy {
                self.enqueue_all(index);
            } else if let Err(outcome) = self.enqueue(index, false) {
                self.ready_queue.report(index, outcome);
            }
        }
        self.indices.extend(running);
    }

    fn has_more(&self) -> bool {
        self.lanes.as_ref().is_some_and(|lanes| !lanes.runnable.is_empty())
    }

    fn start(&mut self) -> Option<Running> {
        let (&key, _) = self.lanes.as_ref()?.runnable.first_key_value()?;
        let Event { index, is_lossy, .. } = self.remove(&key)?;
        let running = self.ready_queue.start(index, Work::Queued { key: key.1, is_lossy });
        let group = &running.callback.group;
        group.is_busy.store(group.kind == CallbackGroupType::MutuallyExclusive, Relaxed);
        Some(running)
    }

    fn finish(&mut self, running: Running, outcome: RunOutcome) {
        let callback = running.callback.clone();
        callback.group.is_busy.store(false, Relaxed);
        self.ready_queue.finish(running, outcome);
        let lane = match callback.group.kind {
            CallbackGroupType::MutuallyExclusive => self.ready_queue.lane_of(&callback.group),
            CallbackGroupType::Reentrant => self.ready_queue.lane_of_callback(&callback),
        };
        if let Some(lane) = lane {
            self.enter(lane);
        }
    }
}
