//! The worker protocol: the messages between the coordinator (the process `perf_test`) and its workers, one JSON value
//! per line. Workers read orders from standard input and write reports to the descriptor [`REPORTS_FD`].
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
//! `Failed` may replace any report of an endpoint, and `Warning` may be sent at any time. Every row contains the
//! resource usage of its process, so the usage of a killed worker is known up to its last row.

pub mod times;

use serde::{Deserialize, Serialize};

use crate::{
    backend::{DeviceMemory, Matching, OtherClock, Settings},
    endpoint::{Endpoint, EndpointPlan, Source},
    measure::{memory::Footprint, moments::Moments, resources::Resources, tally::Counts, threads::ThreadUsage},
    run_spec::RunSpec,
};

/// The value in `Drain::expected` if the number of samples is not known. Only a timeout then shows that no more samples
/// arrive.
pub const UNKNOWN: u64 = u64::MAX - 1;

/// The version of this protocol. A worker with another version refuses its plan. `docs/internals/releasing.md`
/// describes when the version changes.
pub const PROTOCOL: u32 = 3;

/// The descriptor to which a worker writes its reports.
pub const REPORTS_FD: i32 = 3;

/// The plan of one worker process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// The version of the protocol, [`PROTOCOL`].
    pub protocol: u32,
    /// The name of the process in reports. If it is empty, the process is named after its first and its last endpoint.
    #[serde(default)]
    pub name: String,
    /// The description of the run.
    pub spec: RunSpec,
    /// The delay from the end of a second until its row is sent to the reporting thread, nanoseconds: half the gap
    /// between two messages, at most [`ROW_DELAY_NS`](times::ROW_DELAY_NS).
    pub row_delay_ns: i64,
    /// The endpoints of this worker. Endpoints with the same `executor` share a thread.
    pub endpoints: Vec<EndpointPlan>,
}

/// An order of the coordinator to a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Order {
    /// Report the match status.
    Explain,
    /// Start the measurement at the given time.
    Go {
        /// The beginning of row 0, ns of CLOCK_MONOTONIC. The first message is due at this time, unless its publisher
        /// has a phase.
        start_ns: i64,
        /// The publishers of this run whose id is known. If the run has only one publisher, the list contains it even
        /// without an id.
        #[serde(default)]
        sources: Vec<Source>,
    },
    /// Stop publishing.
    Stop,
    /// Take the remaining samples and finish. All publishers have stopped.
    Drain {
        /// For each receiving endpoint of the worker: the number of samples that its publishers sent, or [`UNKNOWN`].
        expected: Vec<(Endpoint, u64)>,
    },
}

/// A report of a worker to the coordinator.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Report {
    /// The middleware is open. This is the first report of a worker.
    Opened {
        /// The values in effect: the value of each setting, and of each option in [`RunSpec::options`].
        effective: Settings,
    },
    /// The endpoint exists.
    Ready {
        /// The endpoint.
        endpoint: Endpoint,
        /// Time of creation, ns of CLOCK_MONOTONIC.
        created_ns: i64,
        /// The id of a publisher in its messages; `None` if the id is not known, and for other endpoints.
        #[serde(default)]
        source: Option<[u8; 16]>,
        /// The clock of the times that the endpoint reports; `None` if it is CLOCK_MONOTONIC.
        #[serde(default)]
        clock: Option<OtherClock>,
    },
    /// The endpoint is matched with all endpoints that it awaits.
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
    /// The measurement begins in this process. The value is the process's usage until now, which belongs to the set-up.
    Started(Resources),
    /// The figures of one endpoint in one second.
    Row {
        /// The endpoint.
        endpoint: Endpoint,
        /// The number of the second after the start, from 0.
        second: u64,
        /// Whether the row covers a whole second. The last row of an endpoint may cover less.
        whole: bool,
        /// The counts of the endpoint in this second.
        counts: Box<Counts>,
        /// The usage of the endpoint's process from its start until now.
        resources: Resources,
    },
    /// The sums over all endpoints of a process in one second. A process with many endpoints sends these instead of
    /// `Row`.
    ProcessRow {
        /// The number of the second after the start, from 0.
        second: u64,
        /// Whether the row covers a whole second. A row that does not contains the last, incomplete seconds of all
        /// endpoints.
        whole: bool,
        /// The sums of the endpoints' counts.
        counts: Box<Counts>,
        /// For each publisher: the number of ids for which no message was sent, because the middleware refused it or a
        /// timer skipped it.
        gaps: Vec<(Endpoint, u64)>,
        /// The usage of the process from its start until now.
        resources: Resources,
    },
    /// The counts of one endpoint in the whole run, from a process that sends `ProcessRow`. This report comes directly
    /// before the endpoint's `Finished` or `Failed`.
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
    /// All endpoints of this process have finished; they still exist.
    Ended {
        /// The memory of the process by kind of mapping.
        footprint: Footprint,
        /// The usage of each thread of the process during the measurement.
        threads: Vec<ThreadUsage>,
        /// The memory of the device (microcontroller), if the run measured one.
        #[serde(default)]
        device: Option<DeviceMemory>,
        /// The memory of `perf_test`'s own counters, bytes; `None` if it is not known.
        #[serde(default)]
        instrument_bytes: Option<u64>,
    },
    /// A problem that does not end the run.
    Warning(Endpoint, String),
    /// The endpoint cannot continue. Without an endpoint, the whole worker cannot continue.
    Failed(Option<Endpoint>, String),
}

/// The match status of an endpoint before the start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatchStatus {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// The endpoints with which the endpoint is matched.
    pub matched: Matching,
    /// The number of endpoints that the endpoint awaits.
    pub expected: usize,
    /// The reasons why other endpoints of the topic are not matched.
    pub mismatches: Vec<String>,
}

/// The final report of an endpoint. Publishers fill only `mismatches` and `interval_ns`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct EndpointReport {
    /// The least number of samples that the publishers sent, as the received ids show.
    pub last_seen: u64,
    /// The number of samples that were sent before the first sample that this subscription received.
    pub before_matched: u64,
    /// The time from the start until the last publisher of the topic left; `None` if the topic had a publisher at the
    /// end, or never had one.
    pub alone_since_ns: Option<i64>,
    /// The reasons why endpoints of the topic were not matched. They are reported only if no endpoint was ever matched
    /// or no sample was received.
    pub mismatches: Vec<String>,
    /// The intervals between consecutive messages of a publisher in an executor.
    pub interval_ns: Moments,
    /// The latencies of the chains that end at a subscription in an executor.
    pub chains: Vec<ChainReport>,
}

/// The latencies of a chain (a sequence of topics), from its first messages to the reception by its last subscription.
/// Distributions are the cells of histograms, as (ns, number of messages).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ChainReport {
    /// The name of the chain.
    pub chain: String,
    /// The moments of the latencies from the stamp of the oldest first message.
    pub oldest_ns: Moments,
    /// The distribution of the latencies from the oldest first message.
    pub oldest: Vec<(u64, u64)>,
    /// The moments of the latencies from the stamp of the newest first message.
    pub newest_ns: Moments,
    /// The distribution of the latencies from the newest first message.
    pub newest: Vec<(u64, u64)>,
}

#[cfg(test)]
mod tests;
