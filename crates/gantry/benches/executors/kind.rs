//! The executors that are compared.

use gantry::{EventsExecutor, Executor, MultiThreadedExecutor, SingleThreadedExecutor};

/// The executor that delivers messages to callbacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// [`SingleThreadedExecutor`]: the other kinds are compared with it.
    SingleThreaded,
    /// [`EventsExecutor`] with its default queue.
    Events,
    /// [`MultiThreadedExecutor`], with as many threads as there are CPUs.
    MultiThreaded,
    /// No executor: a loop around a wait set that takes from every subscription.
    WaitSet,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 4] = [Kind::SingleThreaded, Kind::Events, Kind::MultiThreaded, Kind::WaitSet];

    /// The kind's name in the table and in comparisons.
    pub fn name(self) -> &'static str {
        match self {
            Kind::SingleThreaded => "single-threaded",
            Kind::Events => "events",
            Kind::MultiThreaded => "multi-threaded",
            Kind::WaitSet => "wait-set",
        }
    }

    /// Makes an executor; `None` for the wait set.
    pub fn executor(self) -> Option<Box<dyn Executor>> {
        match self {
            Kind::SingleThreaded => Some(Box::new(SingleThreadedExecutor::new())),
            Kind::Events => Some(Box::new(EventsExecutor::new())),
            Kind::MultiThreaded => Some(Box::new(MultiThreadedExecutor::new())),
            Kind::WaitSet => None,
        }
    }
}
