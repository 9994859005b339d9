//! The single-threaded executor: in each round, every callback that has a value runs once, in the order of
//! registration. Each priority has rounds of its own; a round of a higher priority goes first.

use super::{Executor, ready_queue::ReadyQueue, steps::ExecutorSteps};
use std::collections::VecDeque;

/// Runs callbacks one after the other on the thread that spins the executor, in rounds. In each round, every callback
/// that has a value runs once, in the order in which nodes and callbacks were added, so no topic starves another.
/// Ready callbacks of groups with a higher [priority](crate::CallbackGroup::with_priority) run before all others.
#[derive(Default)]
pub struct SingleThreadedExecutor {
    ready_queue: ReadyQueue,
    /// The callbacks that are still to run in the current round of each priority, the highest priority first.
    rounds: Vec<VecDeque<usize>>,
}

impl SingleThreadedExecutor {
    /// An executor without nodes.
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
        // News of publishers are not read here if they can wait for a later round: with thousands of topics, many
        // topics share a bit of the collector, and reading the bits after each run is expensive. The news cannot wait
        // if a new round begins, or if a round of a higher priority would go first.
        let are_rounds_full = !self.rounds.is_empty() && !self.rounds.iter().any(VecDeque::is_empty);
        let is_changed =
            if are_rounds_full { self.ready_queue.gather_without_news() } else { self.ready_queue.gather() };
        if is_changed {
            // The callbacks changed: all are pending.
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
