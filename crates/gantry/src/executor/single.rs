//! The single-threaded executor: in each round, every callback that has a value runs once, in the order of
//! registration. Each priority has its own rounds, and rounds of a higher priority go first.

use super::{Executor, ready_queue::ReadyQueue, steps::ExecutorSteps};
use std::collections::VecDeque;

/// Runs callbacks one after the other on the thread that spins the executor, in rounds. In each round, every callback
/// that has a value runs once, in the order in which nodes and callbacks were added, so no topic starves another.
/// Ready callbacks of groups with a higher [priority](crate::CallbackGroup::with_priority) run before all others.
#[derive(Default)]
pub struct SingleThreadedExecutor {
    ready_queue: ReadyQueue,
    /// The callbacks that still have to run in the current round, for each priority from the highest to the lowest.
    rounds: Vec<VecDeque<usize>>,
}

impl SingleThreadedExecutor {
    /// Makes an executor without nodes.
    #[must_use]
    pub fn new() -> SingleThreadedExecutor {
        SingleThreadedExecutor::default()
    }
}

impl Executor for SingleThreadedExecutor {}

impl ExecutorSteps for SingleThreadedExecutor {
    fn ready_queue(&mut self) -> &mut ReadyQueue {
        &mut self.ready_queue
    }

    /// Begins a new round for each priority whose last round is over.
    fn gather(&mut self) {
        // News of publishers is not read here if it can wait for a later round. With thousands of topics, many topics
        // share a bit of the collector, so reading the bits after each run is expensive. News cannot wait if a new
        // round begins, or if a round of a higher priority might go first.
        let are_rounds_full = !self.rounds.is_empty() && !self.rounds.iter().any(VecDeque::is_empty);
        let is_changed =
            if are_rounds_full { self.ready_queue.gather_without_news() } else { self.ready_queue.gather() };
        if is_changed {
            // The list of callbacks changed, so all callbacks are pending again.
            self.rounds = vec![VecDeque::new(); self.ready_queue.levels()];
        }
        for (level, round) in self.rounds.iter_mut().enumerate() {
            if round.is_empty() {
                self.ready_queue.take_ready_at(level, round);
            }
        }
    }

    fn step(&mut self) -> bool {
        while let Some(index) = self.rounds.iter_mut().find_map(VecDeque::pop_front) {
            if self.ready_queue.run(index, |callback| callback.run()) {
                return true;
            }
        }
        false
    }
}

impl std::fmt::Debug for SingleThreadedExecutor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SingleThreadedExecutor({:?})", self.ready_queue)
    }
}
