//! The multi-threaded executor.

use super::{
    Executor,
    lanes::Lanes,
    ready_queue::ReadyQueue,
    steps::{ExecutorSteps, Spinning},
    worker_pool::WorkerPool,
};
use crate::error::Result;
use std::panic::resume_unwind;

/// Runs callbacks on several threads, first come, first served; ready callbacks of groups of higher
/// [priority](crate::CallbackGroup::with_priority) first. Each callback runs on one thread at a time, and so do the
/// callbacks of a mutually exclusive group together. Only [`spin`](Executor::spin) starts threads; the other methods use
/// the calling thread.
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
    /// An executor without nodes, with as many threads as there are usable CPUs, but at least 2.
    #[must_use]
    pub fn new() -> MultiThreadedExecutor {
        MultiThreadedExecutor::default()
    }

    /// An executor with that many threads (at least 1), the calling one included.
    #[must_use]
    pub fn with_threads(threads: usize) -> MultiThreadedExecutor {
        MultiThreadedExecutor { threads: threads.max(1), lanes: Lanes::default() }
    }
}

impl Executor for MultiThreadedExecutor {
    fn spin(&mut self) -> Result<()> {
        let _spinning = Spinning::begin(&mut self.lanes.ready_queue)?;
        let pool = WorkerPool::new(std::mem::take(&mut self.lanes));
        let started = std::thread::scope(|scope| {
            for _ in 1..self.threads {
                let thread = std::thread::Builder::new().name("gantry-executor".to_owned());
                thread.spawn_scoped(scope, || pool.run()).inspect_err(|_| pool.cancel())?;
            }
            pool.run();
            Ok(())
        });
        let end = pool.into_end();
        self.lanes = end.lanes;
        self.lanes.ready_queue.end_spin();
        self.lanes.ready_queue.signal.reset_cancel();
        if let Some(panic) = end.panic {
            resume_unwind(panic);
        }
        started
            .map_err(|source| gantry_shm::Error::System { action: "start an executor's thread".to_owned(), source })?;
        end.error.map_or(Ok(()), Err)
    }
}

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
}

impl std::fmt::Debug for MultiThreadedExecutor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MultiThreadedExecutor({} threads, {:?})", self.threads, self.lanes.ready_queue)
    }
}
