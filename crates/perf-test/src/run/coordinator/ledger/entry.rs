//! A report that is added to the ledger: the counts of one endpoint, or the sums over all endpoints of a process.

use perf_worker::measure::{resources::Resources, tally::Counts};

/// One report of a worker.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The index of the worker process.
    pub worker: usize,
    /// The index of the second; second 0 begins at the start of the run.
    pub second: u64,
    /// Whether the report covers a whole second. The last report may cover a part of a second.
    pub whole: bool,
    /// The counts of messages in this second.
    pub counts: Counts,
    /// The resources that the process has used since its start.
    pub resources: Resources,
}
