//! A report that is entered into the ledger: the counts of one endpoint, or the sums over all endpoints of a process.

use perf_worker::measure::{resources::Resources, tally::Counts};

/// One report of a worker.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Index of the worker process.
    pub worker: usize,
    /// The index of the second from the start.
    pub second: u64,
    /// Whether the report is of a whole second, not of a part of a second.
    pub whole: bool,
    /// The counts.
    pub counts: Counts,
    /// The usage of the process since its start.
    pub resources: Resources,
}
