//! The single-threaded executor: each callback that has something runs once, in the order of registration, then the
//! next round.

use super::{Executor, ready_queue::ReadyQueue, steps::ExecutorSteps};
use crate::callback::TakeOrder;
use std::collections::VecDeque;

/// Runs callbacks one after the other on the thread that spins it, in rounds. In each round every callback that has
/// something runs once, in the order in which nodes and callbacks were added, so no topic starves another.
#[derive(Default)]
pub struct SingleThreadedExecutor {
    round: Round,
}

/// A ready queue, and the callbacks that are still to run in the current round.
#[derive(Default)]
pub(super) struct Round {
    pub(super) ready_queue: ReadyQueue,
    indices: VecDeque<usize>,
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
        &mut self.round.ready_queue
    }

    fn gather(&mut self) {
        self.round.gather();
    }

    fn step(&mut self) -> bool {
        self.round.step()
    }
}

impl Round {
    /// Begins a round if the last one is over.
    pub(super) fn gather(&mut self) {
        self.gather_ready();
        if self.indices.is_empty() {
            self.add_ready();
        }
    }

    /// Gathers, and drops the indices if the callbacks changed: all callbacks are pending then.
    pub(super) fn gather_ready(&mut self) {
        if self.ready_queue.gather() {
            self.indices.clear();
        }
    }

    /// Whether a callback of the round may run.
    pub(super) fn any(&self, may_run: impl Fn(&ReadyQueue, usize) -> bool) -> bool {
        self.indices.iter().any(|&index| may_run(&self.ready_queue, index))
    }

    /// Adds all ready callbacks to this round.
    pub(super) fn add_ready(&mut self) {
        self.ready_queue.take_ready(&mut self.indices);
    }

    /// The first callback of the round for which `may_run` holds.
    pub(super) fn next(&mut self, may_run: impl Fn(&ReadyQueue, usize) -> bool) -> Option<usize> {
        let nth = self.indices.iter().position(|&index| may_run(&self.ready_queue, index))?;
        self.indices.remove(nth)
    }

    /// Runs the next callback that has something.
    pub(super) fn step(&mut self) -> bool {
        while let Some(index) = self.next(|_, _| true) {
            if self.ready_queue.run(index, |callback| callback.run(TakeOrder::Turns)) {
                return true;
            }
        }
        false
    }
}

impl std::fmt::Debug for SingleThreadedExecutor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SingleThreadedExecutor({:?})", self.round.ready_queue)
    }
}
