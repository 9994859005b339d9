//! The events executor: one thread and a bounded queue of events, ordered by priority and time.

use super::{Executor, ready_queue::ReadyQueue, steps::ExecutorSteps};
use crate::{
    callback::{Callback, RunOutcome},
    time::monotonic_ns,
};
use gantry_shm::MAX_DEPTH;
use std::{
    cmp::Reverse,
    collections::{BTreeMap, VecDeque},
};

/// The default capacity in events.
const DEFAULT_CAPACITY: usize = 1000;

/// The treatment of events for which the queue has no room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overflow {
    /// Events stay at their source, and each callback has at most one event in the queue. Samples stay in their
    /// publishers' histories, where QoS decides (KEEP_LAST drops the oldest, counted as
    /// [`overwritten`](crate::GenericSubscription::overwritten); with KEEP_ALL the publisher waits); ticks stay in
    /// their timers, which count overruns. The order is the same, and callbacks get the newest samples that QoS allows.
    #[default]
    Wait,
    /// All samples are queued; the oldest of the lowest priority is dropped and counted as
    /// [`dropped`](EventsExecutor::dropped). Other events (ticks, requests, QoS events) wait at their source as with
    /// [`Overflow::Wait`] and need no room.
    DropOldest,
    /// As [`Overflow::DropOldest`], but the newest sample is dropped.
    DropNewest,
}

/// Runs callbacks one after the other on the thread that spins it, in the order in which their samples were published,
/// their timers were due and so on; callbacks of groups with a higher [priority](crate::CallbackGroup::with_priority)
/// run first. The publishers of one topic take turns. The queue is bounded.
pub struct EventsExecutor {
    ready_queue: ReadyQueue,
    queue: BTreeMap<Key, Event>,
    /// The number of events in `queue` that may be dropped.
    lossy: usize,
    capacity: usize,
    overflow: Overflow,
    /// The number of events so far: it orders events of the same time.
    found: u64,
    dropped: u64,
    /// Ready callbacks whose source is looked at when there is room.
    indices: VecDeque<usize>,
    /// The only ready callback while the queue is empty: it runs without being queued.
    only: Option<usize>,
}

/// Priority, time, count.
type Key = (Reverse<i32>, u64, u64);

/// An event: the callback keeps its value.
struct Event {
    index: usize,
    /// Its callback may have more events, and was reported when they were queued. Else it is the callback's only event,
    /// and the callback is reported after its run.
    is_lossy: bool,
}

impl Default for EventsExecutor {
    fn default() -> EventsExecutor {
        EventsExecutor::with_queue(DEFAULT_CAPACITY, Overflow::Wait)
    }
}

impl EventsExecutor {
    /// An executor without nodes, with room for 1000 events and [`Overflow::Wait`].
    #[must_use]
    pub fn new() -> EventsExecutor {
        EventsExecutor::default()
    }

    /// An executor with room for `capacity` events (at least 1).
    #[must_use]
    pub fn with_queue(capacity: usize, overflow: Overflow) -> EventsExecutor {
        EventsExecutor {
            ready_queue: ReadyQueue::default(),
            queue: BTreeMap::new(),
            lossy: 0,
            capacity: capacity.max(1),
            overflow,
            found: 0,
            dropped: 0,
            indices: VecDeque::new(),
            only: None,
        }
    }

    /// The number of events that were dropped for lack of room.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The number of events in the queue.
    #[must_use]
    pub fn queued(&self) -> usize {
        self.queue.len()
    }

    fn has_room(&self) -> bool {
        self.overflow != Overflow::Wait || self.queue.len() < self.capacity
    }

    /// Takes one value from a callback's source into the queue.
    fn enqueue(&mut self, index: usize) {
        match self.ready_queue.registered(index).callback.enqueue() {
            Ok(time_ns) => {
                let key = self.key(index, time_ns);
                self.queue.insert(key, Event { index, is_lossy: false });
            }
            Err(outcome) => self.ready_queue.report(index, outcome),
        }
    }

    /// Takes the values that are older than this call, and at most as many as a history can hold: a quick publisher
    /// cannot keep the executor here.
    fn enqueue_all(&mut self, index: usize) {
        let now_ns = monotonic_ns();
        for _ in 0..MAX_DEPTH {
            let time_ns = match self.ready_queue.registered(index).callback.enqueue() {
                Ok(time_ns) => time_ns,
                Err(outcome) => return self.ready_queue.report(index, outcome),
            };
            let key = self.key(index, time_ns);
            if self.lossy == self.capacity {
                self.drop_for(key, index);
            } else {
                self.lossy += 1;
                self.queue.insert(key, Event { index, is_lossy: true });
            }
            if key.1 >= now_ns {
                break;
            }
        }
        self.ready_queue.report(index, RunOutcome::More);
    }

    fn key(&mut self, index: usize, time_ns: u64) -> Key {
        self.found += 1;
        (Reverse(self.ready_queue.registered(index).callback.group.priority()), time_ns, self.found)
    }

    /// Drops this event, or another one in its favour.
    fn drop_for(&mut self, key: Key, index: usize) {
        self.dropped += 1;
        let is_lossy = |(_, event): &(&Key, &Event)| event.is_lossy;
        let lowest = self.queue.iter().rev().find(is_lossy).map(|(last, _)| last.0);
        // An event that is less urgent than all others drops none.
        let lowest = lowest.filter(|lowest| self.overflow == Overflow::DropOldest && key.0 <= *lowest);
        match lowest.and_then(|lowest| self.queue.range((lowest, 0, 0)..).find(is_lossy)) {
            // The event that is found last may be the oldest: it is of another topic.
            Some((&oldest, &Event { index: loser, .. })) if oldest < key || key.0 < oldest.0 => {
                self.ready_queue.registered(loser).callback.lock().discard(true);
                self.queue.remove(&oldest);
                self.queue.insert(key, Event { index, is_lossy: true });
            }
            _ => self.ready_queue.registered(index).callback.lock().discard(false),
        }
    }

    /// Drops the indices after the callbacks changed: all callbacks are pending then, and take their kept values first.
    fn clear(&mut self) {
        self.ready_queue.return_queued();
        self.queue.clear();
        self.indices.clear();
        (self.lossy, self.only) = (0, None);
    }
}

impl Executor for EventsExecutor {}

impl ExecutorSteps for EventsExecutor {
    fn ready_queue(&mut self) -> &mut ReadyQueue {
        &mut self.ready_queue
    }

    fn gather(&mut self) {
        if self.ready_queue.gather() {
            self.clear();
        }
        // A callback that was found before a cancel.
        if let Some(index) = self.only.take() {
            self.ready_queue.report(index, RunOutcome::More);
        }
        self.ready_queue.take_ready(&mut self.indices);
        if self.overflow == Overflow::Wait && self.queue.is_empty() && self.indices.len() == 1 {
            self.only = self.indices.pop_front();
        }
        if self.overflow == Overflow::Wait && self.queue.len() + self.indices.len() > self.capacity {
            // The sort is stable: among the same priority, the callback that has waited longest for room stays first.
            let priority = |index: &usize| Reverse(self.ready_queue.registered(*index).callback.group.priority());
            self.indices.make_contiguous().sort_by_key(priority);
        }
        while self.has_room()
            && let Some(index) = self.indices.pop_front()
        {
            if self.overflow != Overflow::Wait && self.ready_queue.registered(index).is_lossy {
                self.enqueue_all(index);
            } else {
                self.enqueue(index);
            }
        }
    }

    fn step(&mut self) -> bool {
        if let Some(index) = self.only.take() {
            return self.ready_queue.run(index, Callback::run);
        }
        while let Some((_, Event { index, is_lossy })) = self.queue.pop_first() {
            self.lossy -= usize::from(is_lossy);
            let callback = &self.ready_queue.registered(index).callback;
            if callback.is_removed() {
                continue;
            }
            if is_lossy {
                callback.lock().run_queued(); // it was reported when it was queued
            } else if !self.ready_queue.run(index, |callback| callback.lock().run_queued()) {
                continue;
            }
            return true;
        }
        false
    }
}

impl std::fmt::Debug for EventsExecutor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "EventsExecutor({:?}, {} of {} events, {:?})",
            self.ready_queue,
            self.queue.len(),
            self.capacity,
            self.overflow
        )
    }
}
