//! The worker protocol: the messages between coordinator and workers, one JSON value a line. Orders come on the
//! worker's standard input, reports go to its descriptor [`REPORTS_FD`].
//!
//! `docs/internals/worker-protocol.md` describes every field, for workers in other languages.
//!
//! ```text
//! coordinator                                  worker
//!   Plan                          ->
//!                                 <-  Opened            once, when the middleware is open
//!                                 <-  Ready             each endpoint, when it exists
//!                                 <-  Matched           each endpoint, when it sees all that it waits for
//!                                 <-  Unmatched         … or when it has waited too long;
//!   Explain                       ->                    then all endpoints are asked
//!                                 <-  Explained
//!   Go { start_ns }               ->
//!                                 <-  Started           once, with what the set-up has used
//!                                 <-  Row               each endpoint, after each second; or one ProcessRow of all
//!   Stop                          ->                    only if the run ends early
//!                                 <-  Row, Finished     each publisher; it stays alive until stdin ends
//!   Drain { expected }            ->
//!                                 <-  Row, Finished     each relay and subscription; these stay alive, too
//!                                 <-  Ended             once, when all its endpoints have finished
//!   end of file                   ->                    the worker ends, whatever it is doing
//! ```
//! `Failed` may come instead of any report that is due from an endpoint; `Warning` may come at any time. Every row
//! carries the usage of its whole process, so the usage of a worker that is killed is known up to its last row.

pub mod times;

use serde::{Deserialize, Serialize};

use crate::{
    backend::{DeviceMemory, Matching, OtherClock, Settings},
    endpoint::{Endpoint, EndpointPlan, Source},
    measure::{memory::Footprint, moments::Moments, resources::Resources, tally::Counts, threads::ThreadUsage},
    run_spec::RunSpec,
};

/// The value in `Drain::expected` if the number of samples is not known: then only a timeout shows that no more
/// samples come.
pub const UNKNOWN: u64 = u64::MAX - 1;

/// Version of this protocol: a worker of another version refuses its plan. `docs/internals/releasing.md` describes
/// when the version is raised.
pub const PROTOCOL: u32 = 3;

/// The descriptor to which a worker writes its reports.
pub const REPORTS_FD: i32 = 3;

/// The plan of one worker process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// The name of the process in reports. If it is empty, the process has the names of its first and its
    /// last endpoint.
    #[serde(default)]
    pub name: String,
    /// The run.
    pub spec: RunSpec,
    /// The time from the end of a second until its row is handed over, nanoseconds: half the gap between two messages,
    /// at most [`ROW_DELAY_NS`](times::ROW_DELAY_NS).
    pub row_delay_ns: i64,
    /// The endpoints of this worker; endpoints with the same executor share a thread.
    pub endpoints: Vec<EndpointPlan>,
}

/// An order of the coordinator to a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Order {
    /// Report the match status.
    Explain,
    /// Start at this time of CLOCK_MONOTONIC.
    Go {
        /// The beginning of row 0, ns. At this time the first message of a publisher without a phase is due.
        start_ns: i64,
        /// The publishers of this run whose id is known. If the run has only one publisher, it is listed even
        /// without an id.
        #[serde(default)]
        sources: Vec<Source>,
    },
    /// Publish no more.
    Stop,
    /// No more samples are sent: the endpoint takes the rest, then finishes.
    Drain {
        /// For each receiving endpoint of the worker, the number of samples that its publishers have sent, or
        /// [`UNKNOWN`].
        expected: Vec<(Endpoint, u64)>,
    },
}

/// A report of a worker to the coordinator.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Report {
    /// The middleware is open; the first report of a worker.
    Opened {
        /// The value in effect of each setting, and of each option in [`RunSpec::options`].
        effective: Settings,
    },
    /// The endpoint exists.
    Ready {
        /// The endpoint.
        endpoint: Endpoint,
        /// Time of creation, ns of CLOCK_MONOTONIC.
        created_ns: i64,
        /// The id in the messages of a publisher; `None` if the id is not known, and for other endpoints.
        #[serde(default)]
        source: Option<[u8; 16]>,
        /// The clock of the endpoint's times; `None` if it is CLOCK_MONOTONIC.
        #[serde(default)]
        clock: Option<OtherClock>,
    },
    /// The endpoint is matched with all endpoints for which it waits.
    Matched {
        /// The endpoint.
        endpoint: Endpoint,
        /// Time of matching, ns of CLOCK_MONOTONIC.
        matched_ns: i64,
    },
    /// The endpoint was not matched in time.
    Unmatched(MatchStatus),
    /// The match status of an endpoint, after [`Order::Explain`].
    Explained(MatchStatus),
    /// The measurement begins in this process; its usage so far belongs to the set-up.
    Started(Resources),
    /// One second of one endpoint.
    Row {
        /// The endpoint.
        endpoint: Endpoint,
        /// Row `k` covers second `k` from the start.
        second: u64,
        /// False if the row covers the part of a second that is left at the end of an endpoint.
        whole: bool,
        /// The counts of the endpoint in this second.
        counts: Box<Counts>,
        /// The usage of the endpoint's process so far.
        resources: Resources,
    },
    /// The sums over all endpoints of a process in one second, if the process has many endpoints.
    ProcessRow {
        /// Row `k` covers second `k` from the start.
        second: u64,
        /// False if the row has the parts of seconds that are left at the ends of the endpoints.
        whole: bool,
        /// The sums of the endpoints' counts.
        counts: Box<Counts>,
        /// For each publisher, the number of messages that have ids but were not sent: the middleware refused
        /// them, or a timer skipped them.
        gaps: Vec<(Endpoint, u64)>,
        /// The usage of the process so far.
        resources: Resources,
    },
    /// The counts of one endpoint in the whole run, in a process that reports one row for all its endpoints. This
    /// report comes right before the report that the endpoint has finished or failed.
    Total {
        /// The endpoint.
        endpoint: Endpoint,
        /// The counts of the endpoint.
        counts: Box<Counts>,
    },
    /// The endpoint has finished.
    Finished {
        /// The endpoint.
        endpoint: Endpoint,
        /// The report of the endpoint.
        report: EndpointReport,
        /// The usage of the endpoint's process at the end.
        resources: Resources,
    },
    /// All endpoints of this process have finished, and still exist.
    Ended {
        /// The memory of the process by kind.
        footprint: Footprint,
        /// The usage of each thread of the process while it measured.
        threads: Vec<ThreadUsage>,
        /// The memory of the device that was measured; `None` if this process was measured.
        #[serde(default)]
        device: Option<DeviceMemory>,
        /// The memory in which the instrument counts, bytes; `None` if it is not known.
        #[serde(default)]
        instrument_bytes: Option<u64>,
    },
    /// A problem that does not end the run.
    Warning(Endpoint, String),
    /// The endpoint cannot go on; without an endpoint, the whole worker cannot go on.
    Failed(Option<Endpoint>, String),
}

/// The match status of an endpoint before the start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatchStatus {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// The endpoints with which the endpoint is matched.
    pub matched: Matching,
    /// The number of endpoints for which the endpoint waits.
    pub expected: usize,
    /// The reasons why the endpoint is not matched with others.
    pub mismatches: Vec<String>,
}

/// The report of an endpoint at its end; a publisher has only `mismatches` and `interval_ns`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct EndpointReport {
    /// The least number of samples that the publishers have sent, by the ids that were seen.
    pub last_seen: u64,
    /// The number of samples that were sent before the first sample of this subscription.
    pub before_matched: u64,
    /// The time from the start until the topic's last publisher had left; `None` if the topic had a publisher at
    /// the end, or never had one.
    pub alone_since_ns: Option<i64>,
    /// The reasons why endpoints of the topic were not matched, if no endpoint was ever matched or no sample
    /// was received.
    pub mismatches: Vec<String>,
    /// The times from message to message of a publisher in an executor.
    pub interval_ns: Moments,
    /// The chains that end at a subscription in an executor.
    pub chains: Vec<ChainReport>,
}

/// The latencies of a chain of topics, up to the reception by a subscription at its end. Distributions are the cells of
/// histograms, as (ns, number of messages).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ChainReport {
    /// The name of the chain.
    pub chain: String,
    /// The latencies from the stamp of the oldest first message.
    pub oldest_ns: Moments,
    /// The distribution of the latencies from the oldest first message.
    pub oldest: Vec<(u64, u64)>,
    /// The latencies from the stamp of the newest first message.
    pub newest_ns: Moments,
    /// The distribution of the latencies from the newest first message.
    pub newest: Vec<(u64, u64)>,
}

#[cfg(test)]
mod tests;
