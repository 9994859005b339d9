//! The reports that are entered: of one endpoint, or of all endpoints of a process.

use perf_worker::{
    endpoint::Endpoint,
    measure::{resources::Resources, tally::Counts},
};

/// One report of one endpoint.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Index of the worker process.
    pub worker: usize,
    /// The endpoint.
    pub endpoint: Endpoint,
    /// The index of the second from the start.
    pub second: u64,
    /// False for a part of a second.
    pub whole: bool,
    /// Its counts.
    pub counts: Counts,
    /// The usage of the process so far.
    pub resources: Resources,
}

/// One report of all endpoints of a process.
#[derive(Clone, Debug)]
pub struct ProcessEntry {
    /// Index of the worker process.
    pub worker: usize,
    /// Its endpoints.
    pub endpoints: Vec<Endpoint>,
    /// The index of the second from the start.
    pub second: u64,
    /// False for the parts of a second at the ends of its endpoints.
    pub whole: bool,
    /// The sums of their counts.
    pub counts: Counts,
    /// Messages of each publisher that were refused or passed over.
    pub gaps: Vec<(Endpoint, u64)>,
    /// The usage of the process so far.
    pub resources: Resources,
}

/// The place of a report among the rows.
#[derive(Clone, Copy)]
pub struct Place {
    /// Index of the worker process.
    pub worker: usize,
    /// The index of the second from the start.
    pub second: u64,
    /// False for a part of a second.
    pub whole: bool,
}
