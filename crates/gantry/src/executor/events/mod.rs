//! The events executor: callbacks in the order of their events' times.

mod event_queue;

pub use event_queue::Overflow;

use super::{
    Executor,
    ready_queue::ReadyQueue,
    steps::{ExecutorSteps, GoesOn, spin_on_this_thread, within_spin},
    worker_pool::{Order, spin_on_threads},
};
use crate::error::Result;
use event_queue::EventQueue;
use std::{mem::take, time::Instant};

/// The default capacity in events.
const DEFAULT_CAPACITY: usize = 1000;
/// The default limit of the memory that queued samples occupy: a sixteenth of a publisher's default memory limit.
const DEFAULT_MAX_BYTES: usize = 64 << 20;

/// Runs callbacks in the order of their events' times, also across the publishers of a topic. The time of an event is
/// the time at which the sample was published or the timer was due. Callbacks of groups with a higher
/// [priority](crate::CallbackGroup::with_priority) run first. The queue is bounded.
///
/// The executor runs one callback after the other on the thread that spins it, or several at once
/// ([`with_threads`](EventsExecutor::with_threads)).
pub struct EventsExecutor {
    queue: EventQueue,
    threads: usize,
}

impl Default for EventsExecutor {
    fn default() -> EventsExecutor {
        EventsExecutor::with_queue(DEFAULT_CAPACITY, Overflow::Wait)
    }
}

impl EventsExecutor {
    /// Makes an executor without nodes, with room for 1000 events and with [`Overflow::Wait`].
    #[must_use]
    pub fn new() -> EventsExecutor {
        EventsExecutor::default()
    }

    /// Makes an executor with room for `capacity` events (at least 1), and for 64 MiB of queued samples.
    #[must_use]
    pub fn with_queue(capacity: usize, overflow: Overflow) -> EventsExecutor {
        EventsExecutor { queue: EventQueue::new(capacity.max(1), DEFAULT_MAX_BYTES, overflow), threads: 1 }
    }

    /// Limits the memory that queued samples occupy at their publishers, in bytes. The limit applies only if the queue
    /// drops events ([`Overflow`]). One sample is always accepted.
    #[must_use]
    pub fn with_max_queue_bytes(mut self, max_bytes: usize) -> EventsExecutor {
        self.queue.max_bytes = max_bytes;
        self
    }

    /// Runs callbacks on this number of threads (at least 1), including the calling thread. The oldest event whose
    /// group is free starts first. [`spin`](Executor::spin), [`spin_until`](Executor::spin_until) and
    /// [`spin_until_complete`](Executor::spin_until_complete) use all threads; the other methods use the calling
    /// thread.
    #[must_use]
    pub fn with_threads(self, threads: usize) -> EventsExecutor {
        EventsExecutor { threads: threads.max(1), ..self }
    }

    /// The number of events that were dropped because the queue was full.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.queue.dropped
    }

    /// The number of events in the queue.
    #[must_use]
    pub fn queued(&self) -> usize {
        self.queue.len()
    }
}

impl Executor for EventsExecutor {}

impl ExecutorSteps for EventsExecutor {
    fn ready_queue(&mut self) -> &mut ReadyQueue {
        &mut self.queue.ready_queue
    }

    fn gather(&mut self) {
        self.queue.gather();
    }

    fn step(&mut self) -> bool {
        self.queue.step()
    }

    fn spin_while(&mut self, deadline: Option<Instant>, goes_on: Option<GoesOn<'_>>) -> Result<()> {
        let threads = self.threads;
        if threads == 1 {
            return spin_on_this_thread(self, deadline, goes_on);
        }
        let end = within_spin(self, |executor| {
            executor.queue.begin_threads();
            let mut end = spin_on_threads(take(&mut executor.queue), threads, deadline, goes_on);
            executor.queue = take(&mut end.order);
            executor.queue.end_threads();
            Ok(end)
        })?;
        end.into_result()
    }
}

impl std::fmt::Debug for EventsExecutor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let EventQueue { ready_queue, capacity, overflow, .. } = &self.queue;
        let (threads, events) = (self.threads, self.queue.len());
        write!(f, "EventsExecutor({threads} threads, {ready_queue:?}, {events} of {capacity} events, {overflow:?})")
    }
}
