//! One thread that runs what came first, of what is most urgent: a bounded queue of events.

use super::{Executor, ready_queue::Turn, steps::Steps};
use crate::{
    callback::{Callback, Ran},
    time::monotonic_ns,
};
use gantry_shm::MAX_DEPTH;
use std::{
    cmp::Reverse,
    collections::{BTreeMap, VecDeque},
};

/// Room for so many events, if nothing else is said.
const DEFAULT_CAPACITY: usize = 1000;

/// What becomes of events for which there is no room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overflow {
    /// They stay where they are, and each callback has at most one event in the queue: samples in their publishers' histories, where
    /// QoS decides what goes (KEEP_LAST: the oldest, counted as [`overwritten`](crate::Subscription::overwritten); KEEP_ALL: the publisher
    /// waits), ticks in their timers, which count overruns. The order is the same, and callbacks get the newest that QoS allows.
    #[default]
    Wait,
    /// All samples that come are queued; the oldest of the lowest priority goes, and is counted as
    /// [`dropped`](EventsExecutor::dropped). Whatever else comes (ticks, requests, events) waits, and takes no room.
    DropOldest,
    /// The same, but what comes last goes.
    DropNewest,
}

/// Runs callbacks one after the other on the thread that spins it, in the order in which samples were published, timers were due
/// and so on; those of groups with a higher [priority](crate::CallbackGroup::with_priority) first. The publishers of one topic take turns.
/// The queue is bounded.
///
/// # Real-time
/// Not for real-time threads: it locks each callback, and may allocate. A real-time loop takes and publishes itself.
pub struct EventsExecutor {
    turn: Turn,
    queue: BTreeMap<Key, Event>,
    /// How many of it may be dropped.
    lossy: usize,
    capacity: usize,
    overflow: Overflow,
    /// Tells events of the same time apart: the one that was found first comes first.
    found: u64,
    dropped: u64,
    /// Taken from `turn`, to be looked at when there is room.
    places: VecDeque<usize>,
    /// Of the only one that has something, while the queue is empty: it needs no order.
    only: Option<usize>,
    /// Of whose callback runs, or panicked.
    current: Option<usize>,
}

/// Priority, time, count.
type Key = (Reverse<i32>, u64, u64);

/// What was taken for a callback, and is kept there.
struct Event {
    place: usize,
    /// Else it is the only one of its callback, which is reported when it ran.
    is_lossy: bool,
}

impl Default for EventsExecutor {
    fn default() -> EventsExecutor {
        EventsExecutor::with_queue(DEFAULT_CAPACITY, Overflow::Wait)
    }
}

impl EventsExecutor {
    /// No node is in it yet; room for 1000 events, and what finds no room waits.
    #[must_use]
    pub fn new() -> EventsExecutor {
        EventsExecutor::default()
    }

    /// With room for `capacity` events (at least 1).
    #[must_use]
    pub fn with_queue(capacity: usize, overflow: Overflow) -> EventsExecutor {
        EventsExecutor {
            turn: Turn::new(),
            queue: BTreeMap::new(),
            lossy: 0,
            capacity: capacity.max(1),
            overflow,
            found: 0,
            dropped: 0,
            places: VecDeque::new(),
            only: None,
            current: None,
        }
    }

    /// Events for which there was no room, since it was made.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Events that wait in the queue now.
    #[must_use]
    pub fn queued(&self) -> usize {
        self.queue.len()
    }

    fn has_room(&self) -> bool {
        self.overflow != Overflow::Wait || self.queue.len() < self.capacity
    }

    /// Takes one thing from a callback's source into the queue.
    fn enqueue(&mut self, place: usize) {
        match self.turn.member(place).callback.enqueue() {
            (Ran::Once, time_ns) => {
                let key = self.key(place, time_ns.unwrap_or_else(monotonic_ns));
                self.queue.insert(key, Event { place, is_lossy: false });
            }
            (ran, _) => self.turn.report(place, ran),
        }
    }

    /// Takes what is there now and no more, or a publisher that is quicker than this would keep us here; and no history is longer.
    fn enqueue_all(&mut self, place: usize) {
        let now_ns = monotonic_ns();
        for _ in 0..MAX_DEPTH {
            let (ran, time_ns) = self.turn.member(place).callback.enqueue();
            if ran != Ran::Once {
                return self.turn.report(place, ran);
            }
            let key = self.key(place, time_ns.unwrap_or(now_ns));
            if self.lossy == self.capacity {
                self.drop_for(key, place);
            } else {
                self.lossy += 1;
                self.queue.insert(key, Event { place, is_lossy: true });
            }
            if key.1 >= now_ns {
                break;
            }
        }
        self.turn.report(place, Ran::Once);
    }

    fn key(&mut self, place: usize, time_ns: u64) -> Key {
        self.found += 1;
        (Reverse(self.turn.member(place).callback.group.priority), time_ns, self.found)
    }

    /// There is no room for this event: it goes, or another one does.
    fn drop_for(&mut self, key: Key, place: usize) {
        self.dropped += 1;
        let is_lossy = |(_, event): &(&Key, &Event)| event.is_lossy;
        let lowest = self.queue.iter().rev().find(is_lossy).map(|(last, _)| last.0);
        // Nothing goes for what is less urgent than all of it.
        let lowest = lowest.filter(|lowest| self.overflow == Overflow::DropOldest && key.0 <= *lowest);
        match lowest.and_then(|lowest| self.queue.range((lowest, 0, 0)..).find(is_lossy)) {
            // What is found last may be the oldest: it is of another topic.
            Some((&oldest, &Event { place: loser, .. })) if oldest < key || key.0 < oldest.0 => {
                self.turn.member(loser).callback.body().discard(true);
                self.queue.remove(&oldest);
                self.queue.insert(key, Event { place, is_lossy: true });
            }
            _ => self.turn.member(place).callback.body().discard(false),
        }
    }

    /// Places mean other callbacks now, and all are marked anew; what was kept for them is taken again, before anything else.
    fn forget(&mut self) {
        self.turn.give_back();
        self.queue.clear();
        self.places.clear();
        (self.lossy, self.only, self.current) = (0, None, None);
    }

    /// Runs a callback, and reports what came of it: at the next gathering if it panics.
    fn run(&mut self, place: usize, run: impl FnOnce(&Callback) -> Ran) -> Ran {
        self.current = Some(place);
        let ran = run(&self.turn.member(place).callback);
        self.current = None;
        self.turn.report(place, ran);
        ran
    }
}

impl Executor for EventsExecutor {}

impl Steps for EventsExecutor {
    fn turn(&mut self) -> &mut Turn {
        &mut self.turn
    }

    fn gather(&mut self) {
        if self.turn.gather() {
            self.forget();
        }
        // It panicked; or it was found before a cancel.
        if let Some(place) = self.current.take().or_else(|| self.only.take()) {
            self.turn.report(place, Ran::Once);
        }
        self.turn.take_ready(&mut self.places);
        if self.overflow == Overflow::Wait && self.queue.is_empty() && self.places.len() == 1 {
            self.only = self.places.pop_front();
        }
        if self.overflow == Overflow::Wait && self.queue.len() + self.places.len() > self.capacity {
            // Among the same priority, who has waited longest for room comes first.
            let priority = |place: &usize| Reverse(self.turn.member(*place).callback.group.priority);
            self.places.make_contiguous().sort_by_key(priority);
        }
        while self.has_room()
            && let Some(place) = self.places.pop_front()
        {
            if self.overflow != Overflow::Wait && self.turn.member(place).is_lossy {
                self.enqueue_all(place);
            } else {
                self.enqueue(place);
            }
        }
    }

    fn step(&mut self) -> bool {
        if let Some(place) = self.only.take() {
            return self.run(place, Callback::run).has_run();
        }
        while let Some((_, Event { place, is_lossy })) = self.queue.pop_first() {
            self.lossy -= usize::from(is_lossy);
            let callback = &self.turn.member(place).callback;
            if callback.is_removed() {
                continue;
            }
            if is_lossy {
                callback.body().run_queued(); // it was reported when it was queued
            } else if !self.run(place, |callback| callback.body().run_queued()).has_run() {
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
            self.turn,
            self.queue.len(),
            self.capacity,
            self.overflow
        )
    }
}
