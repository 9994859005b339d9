//! One thread that runs what came first, of what is most urgent: a bounded queue of events.

use super::{Executor, steps::Steps, turn::Turn};
use crate::{
    callback::{Callback, Ran},
    clock::monotonic_ns,
};
use std::{cmp::Reverse, collections::BTreeMap, sync::Arc};

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
    /// All that comes is queued; the oldest of the lowest priority goes, and is counted as [`dropped`](EventsExecutor::dropped).
    DropOldest,
    /// All that comes is queued; what comes last goes, and is counted as [`dropped`](EventsExecutor::dropped).
    DropNewest,
}

/// Runs callbacks one after the other on the thread that spins it, in the order in which samples were published, timers were due
/// and so on; those of groups with a higher [priority](crate::CallbackGroup::with_priority) first. The queue is bounded.
pub struct EventsExecutor {
    turn: Turn,
    queue: BTreeMap<Key, Arc<Callback>>,
    capacity: usize,
    overflow: Overflow,
    /// Tells events of the same time apart: the one that was found first comes first.
    found: u64,
    dropped: u64,
    /// Taken from `turn`, to be looked at.
    places: Vec<usize>,
    /// The only one that has something, and the queue is empty: it needs no place in an order.
    only: Option<usize>,
}

/// Priority, time, count.
type Key = (Reverse<i32>, u64, u64);

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
        let (turn, queue, capacity) = (Turn::new(), BTreeMap::new(), capacity.max(1));
        EventsExecutor { turn, queue, capacity, overflow, found: 0, dropped: 0, places: Vec::new(), only: None }
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

    /// Takes from a callback's source what goes into the queue, up to `most` events.
    fn enqueue(&mut self, place: usize, most: usize) -> Ran {
        let callback = self.turn.member(place).callback.clone();
        for _ in 0..most {
            let (ran, time_ns) = callback.enqueue();
            if ran != Ran::Once {
                return ran;
            }
            self.found += 1;
            let key = (Reverse(callback.group.priority), time_ns.unwrap_or_else(monotonic_ns), self.found);
            if self.queue.len() < self.capacity {
                self.queue.insert(key, callback.clone());
            } else {
                self.drop_for(key, &callback);
            }
        }
        Ran::Once
    }

    /// There is no room for this event: it goes, or another one does.
    fn drop_for(&mut self, key: Key, callback: &Arc<Callback>) {
        self.dropped += 1;
        let lowest =
            self.queue.last_key_value().map(|(last, _)| last.0).filter(|_| self.overflow == Overflow::DropOldest);
        // Nothing goes for what is less urgent than all of it.
        match lowest.filter(|lowest| key.0 <= *lowest).and_then(|lowest| self.queue.range((lowest, 0, 0)..).next()) {
            Some((&oldest, _)) => {
                if let Some(loser) = self.queue.remove(&oldest) {
                    loser.body().discard(true);
                }
                self.queue.insert(key, callback.clone());
            }
            None => callback.body().discard(false),
        }
    }
}

impl Executor for EventsExecutor {}

impl Steps for EventsExecutor {
    fn turn(&mut self) -> &mut Turn {
        &mut self.turn
    }

    fn gather(&mut self) {
        let is_changed = self.turn.gather();
        // It was found before a cancel.
        if let Some(place) = self.only.take().filter(|_| !is_changed) {
            self.turn.report(place, Ran::Once);
        }
        let mut places = std::mem::take(&mut self.places);
        self.turn.take_ready(&mut places);
        if let ([place], true, Overflow::Wait) = (&places[..], self.queue.is_empty(), self.overflow) {
            self.only = Some(*place);
            places.clear();
        }
        for place in places.drain(..) {
            let waits = self.overflow == Overflow::Wait;
            // No more at a time than fit, or one that is quicker than all others would keep us here.
            let most = match self.capacity - self.queue.len() {
                0 if waits => 0,
                _ if waits => 1,
                _ => self.capacity,
            };
            let ran = self.enqueue(place, most);
            // If its only event is in the queue, it is reported when that ran.
            if waits && ran == Ran::Once && most == 1 {
                self.turn.start(place);
            } else {
                self.turn.report(place, ran);
            }
        }
        self.places = places;
    }

    fn step(&mut self) -> bool {
        if let Some(place) = self.only.take() {
            let ran = self.turn.member(place).callback.run();
            self.turn.report(place, ran);
            return ran.has_run();
        }
        while let Some((_, callback)) = self.queue.pop_first() {
            let is_here = self.turn.has(&callback);
            let ran = if is_here {
                callback.body().run_queued()
            } else {
                callback.body().discard(true);
                Ran::Nothing
            };
            if self.overflow == Overflow::Wait {
                self.turn.ran(&callback, ran);
            }
            if is_here {
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
            self.turn,
            self.queue.len(),
            self.capacity,
            self.overflow
        )
    }
}
