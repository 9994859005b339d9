//! The multi-threaded executor.

mod lanes;

use super::{
    Executor,
    ready_queue::ReadyQueue,
    steps::{ExecutorSteps, GoesOn, within_spin},
    worker_pool::{Order, spin_on_threads},
};
use crate::error::Result;
use lanes::Lanes;
use std::{mem::take, time::Instant};

/// Runs callbacks on several threads in the order of their arrival. Ready callbacks of groups with a higher
/// [priority](crate::CallbackGroup::with_priority) come first. A callback never runs on two threads at once, nor do two
/// callbacks of a mutually exclusive group. [`spin`](Executor::spin), [`spin_until`](Executor::spin_until) and
/// [`spin_until_complete`](Executor::spin_until_complete) use all threads; the other methods use the calling thread.
pub struct MultiThreadedExecutor {
    threads: usize,
    lanes: Lanes,
}

impl Default for MultiThreadedExecutor {
    fn default() -> MultiThreadedExecutor {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        MultiThreadedExecutor::with_threads(cpus.max(2))
    }
}

impl MultiThreadedExecutor {
    /// Makes an executor without nodes, with one thread for each usable CPU, but at least 2 threads.
    #[must_use]
    pub fn new() -> MultiThreadedExecutor {
        MultiThreadedExecutor::default()
    }

    /// Makes an executor with this number of threads (at least 1), including the calling thread.
    #[must_use]
    pub fn with_threads(threads: usize) -> MultiThreadedExecutor {
        MultiThreadedExecutor { threads: threads.max(1), lanes: Lanes::default() }
    }
}

impl Executor for MultiThreadedExecutor {}

impl ExecutorSteps for MultiThreadedExecutor {
    fn ready_queue(&mut self) -> &mut ReadyQueue {
        &mut self.lanes.ready_queue
    }

    fn gather(&mut self) {
        self.lanes.gather();
    }

    fn step(&mut self) -> bool {
        self.lanes.step()
    }

    fn spin_while(&mut self, deadline: Option<Instant>, goes_on: Option<GoesOn<'_>>) -> Result<()> {
        let threads = self.threads;
        let end = within_spin(self, |executor| {
            let mut end = spin_on_threads(take(&mut executor.lanes), threads, deadline, goes_on);
            executor.lanes = take(&mut end.order);
            Ok(end)
        })?;
        end.into_result()
    }
}

impl std::fmt::Debug for MultiThreadedExecutor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MultiThreadedExecutor({} threads, {:?})", self.threads, self.lanes.ready_queue)
    }
}
