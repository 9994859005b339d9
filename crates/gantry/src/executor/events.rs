//! The events executor: a bounded queue of events, ordered by priority and time.

use super::{Executor, ready_queue::ReadyQueue, steps::ExecutorSteps};
use crate::{
    callback::{EventKey, KeptEvent, RunOutcome, TakeOrder},
    time::monotonic_ns,
};
use gantry_shm::MAX_DEPTH;
use std::{
    cmp::Reverse,
    collections::{BTreeMap, VecDeque},
};

/// The default capacity in events.
const DEFAULT_CAPACITY: usize = 1000;
/// The default limit of the memory that queued samples occupy: a sixteenth of a publisher's default memory limit.
const DEFAULT_MAX_BYTES: usize = 64 << 20;

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
    /// As [`Overflow::DropOldest`], but the newest sample of the lowest priority is dropped.
    DropNewest,
}

/// Runs callbacks one after the other on the thread that spins it, in the order in which their samples were published,
/// their timers were due and so on, also where a topic has several publishers; callbacks of groups with a higher
/// [priority](crate::CallbackGroup::with_priority) run first. The queue is bounded.
pub struct EventsExecutor {
    ready_queue: ReadyQueue,
    queue: BTreeMap<Key, Event>,
    /// The number of events in `queue` that may be dropped, and the memory that their samples occupy.
    lossy: usize,
    lossy_bytes: usize,
    capacity: usize,
    max_bytes: usize,
    overflow: Overflow,
    /// The number of events so far: it orders events of the same time.
    found: u64,
    dropped: u64,
    /// Ready callbacks whose source is looked at when there is room.
    indices: VecDeque<usize>,
    /// The only ready callback while the queue is empty: it runs without being queued.
    only: Option<usize>,
}

/// Priority, then the key of the callback's kept value.
type Key = (Reverse<i32>, EventKey);

/// An event: the callback keeps its value.
struct Event {
    index: usize,
    size_bytes: usize,
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

    /// An executor with room for `capacity` events (at least 1), and for 64 MiB of queued samples.
    #[must_use]
    pub fn with_queue(capacity: usize, overflow: Overflow) -> EventsExecutor {
        EventsExecutor {
            ready_queue: ReadyQueue::default(),
            queue: BTreeMap::new(),
            lossy: 0,
            lossy_bytes: 0,
            capacity: capacity.max(1),
            max_bytes: DEFAULT_MAX_BYTES,
            overflow,
            found: 0,
            dropped: 0,
            indices: VecDeque::new(),
            only: None,
        }
    }

    /// Limits the memory that the samples in a queue that drops occupy in their publishers. One sample always has room.
    #[must_use]
    pub fn with_max_queue_bytes(self, max_bytes: usize) -> EventsExecutor {
        EventsExecutor { max_bytes, ..self }
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
    fn enqueue(&mut self, index: usize, is_lossy: bool) -> Result<KeptEvent, RunOutcome> {
        self.found += 1;
        let callback = &self.ready_queue.registered(index).callback;
        let kept = callback.enqueue(self.found)?;
        let event = Event { index, size_bytes: kept.size_bytes, is_lossy };
        self.queue.insert((Reverse(callback.group.priority()), kept.key), event);
        Ok(kept)
    }

    /// Takes the values that are older than this call, and at most as many as a history can hold: a quick publisher
    /// cannot keep the executor here.
    fn enqueue_all(&mut self, index: usize) {
        let now_ns = monotonic_ns();
        for _ in 0..MAX_DEPTH {
            let KeptEvent { key: (time_ns, _), size_bytes } = match self.enqueue(index, true) {
                Ok(kept) => kept,
                Err(outcome) => return self.ready_queue.report(index, outcome),
            };
            self.lossy += 1;
            self.lossy_bytes += size_bytes;
            while self.lossy > self.capacity || self.lossy > 1 && self.lossy_bytes > self.max_bytes {
                self.drop_one();
            }
            if time_ns >= now_ns {
                break;
            }
        }
        self.ready_queue.report(index, RunOutcome::More);
    }

    /// Drops the oldest or the newest sample of the lowest priority.
    fn drop_one(&mut self) {
        let is_lossy = |(_, event): &(&Key, &Event)| event.is_lossy;
        let Some((&newest, _)) = self.queue.iter().rev().find(is_lossy) else { return };
        let of_lowest = || self.queue.range((newest.0, EventKey::default())..).find(is_lossy);
        let oldest = (self.overflow == Overflow::DropOldest).then(of_lowest).flatten();
        let key = oldest.map_or(newest, |(&oldest, _)| oldest);
        if let Some(event) = self.queue.remove(&key) {
            self.forget(&event);
            self.ready_queue.registered(event.index).callback.lock().discard(key.1);
            self.dropped += 1;
        }
    }

    /// Takes an event that left the queue out of the books.
    fn forget(&mut self, event: &Event) {
        if event.is_lossy {
            self.lossy -= 1;
            self.lossy_bytes -= event.size_bytes;
        }
    }

    /// Drops the indices after the callbacks changed: all callbacks are pending then, and take their kept values first.
    fn clear(&mut self) {
        self.ready_queue.return_queued();
        self.queue.clear();
        self.indices.clear();
        (self.lossy, self.lossy_bytes, self.only) = (0, 0, None);
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
                if let Err(outcome) = self.enqueue(index, false) {
                    self.ready_queue.report(index, outcome);
                }
            }
        }
    }

    fn step(&mut self) -> bool {
        if let Some(index) = self.only.take() {
            return self.ready_queue.run(index, |callback| callback.run(TakeOrder::Time));
        }
        while let Some(((_, key), event)) = self.queue.pop_first() {
            self.forget(&event);
            let Event { index, is_lossy, .. } = event;
            let callback = &self.ready_queue.registered(index).callback;
            if is_lossy {
                if matches!(callback.run_queued(key), RunOutcome::More | RunOutcome::Last) {
                    return true; // it was reported when it was queued
                }
            } else if self.ready_queue.run(index, |callback| callback.run_queued(key)) {
                return true;
            }
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
