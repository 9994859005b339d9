//! What coordinator and workers say to each other: one JSON value a line, on the worker's stdin and stdout.
//!
//! For whoever writes a worker in another language, `docs/internals/worker-protocol.md` has every field.
//!
//! ```text
//! coordinator                                  worker
//!   Plan                          ->
//!                                 <-  Ready             each endpoint, when it exists
//!                                 <-  Matched           each endpoint, when those that it waits for are there
//!                                 <-  Unmatched         … or when it has waited too long;
//!   Explain                       ->                    then all are asked
//!                                 <-  Explained
//!   Go { start_ns }               ->
//!                                 <-  Started           once, with what the set-up has used
//!                                 <-  Row               each endpoint, as soon as each second is over
//!   Stop                          ->                    only if the run ends early
//!                                 <-  Row, Finished     each publisher; it stays alive until stdin ends
//!   Drain { expected }            ->
//!                                 <-  Row, Finished     each relay and subscription; these stay alive, too
//!                                 <-  Ended             once, when all its endpoints have finished
//!   end of file                   ->                    the worker ends, whatever it is doing
//! ```
//! `Failed` may come instead of anything an endpoint owes; `Warning` at any time. Every row carries the
//! usage of its whole process, so a worker that is killed leaves its last second behind.

use serde::{Deserialize, Serialize};

use crate::endpoint::{Endpoint, EndpointPlan};
use crate::measure::memory::Footprint;
use crate::measure::resources::Resources;
use crate::measure::tally::Counts;
use crate::measure::threads::ThreadUsage;
use crate::run_spec::RunSpec;

/// What a `Drain` expects if nobody knows how many samples were sent: then only time tells that nothing more comes.
pub const UNKNOWN: u64 = u64::MAX - 1;

/// Version of this protocol: a worker of another one refuses its plan.
pub const PROTOCOL: u32 = 2;

/// What one worker process is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// The run.
    #[serde(rename = "experiment")]
    pub spec: RunSpec,
    /// The endpoints that live in this worker, each on a thread; with INTRA_THREAD all on one.
    pub endpoints: Vec<EndpointPlan>,
}

/// What the coordinator tells a worker.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum Order {
    /// Say who is missing, and why.
    Explain,
    /// Start at this time of CLOCK_MONOTONIC.
    Go {
        /// Due time of the first message and beginning of row 0, ns.
        start_ns: i64,
    },
    /// Publish no more.
    Stop,
    /// Nothing more is sent: take what is left, then finish.
    Drain {
        /// Samples that all publishers together have sent, or [`UNKNOWN`].
        expected: u64,
    },
}

/// What a worker tells the coordinator.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Report {
    /// The endpoint exists.
    Ready {
        /// Which.
        endpoint: Endpoint,
        /// Since when, ns of CLOCK_MONOTONIC.
        created_ns: i64,
    },
    /// The endpoint sees all that it waits for.
    Matched {
        /// Which.
        endpoint: Endpoint,
        /// Since when, ns of CLOCK_MONOTONIC.
        matched_ns: i64,
    },
    /// The endpoint has waited in vain.
    Unmatched(Standing),
    /// How an endpoint stands.
    Explained(Standing),
    /// The measurement begins in this process; what it has used so far is set-up.
    Started(Resources),
    /// One second of one endpoint.
    Row {
        /// Whose.
        endpoint: Endpoint,
        /// Row `k` covers second `k` from the start.
        second: u64,
        /// False for the piece of a second that an endpoint ends with.
        whole: bool,
        /// What it counted.
        counts: Box<Counts>,
        /// What its process has used so far.
        resources: Resources,
    },
    /// The endpoint has done all it had to do.
    Finished {
        /// Which.
        endpoint: Endpoint,
        /// What it knows at the end.
        closing: Closing,
        /// What its process has used in the end.
        resources: Resources,
    },
    /// All endpoints of this process have finished; they still exist.
    Ended {
        /// Its memory by kind.
        footprint: Footprint,
        /// What each of its threads used while it measured.
        threads: Vec<ThreadUsage>,
    },
    /// Something odd that does not end the run.
    Warning(Endpoint, String),
    /// The endpoint cannot go on. None: the whole worker.
    Failed(Option<Endpoint>, String),
}

/// Whom an endpoint sees before the start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// Which endpoint.
    pub endpoint: Endpoint,
    /// How many of the other side it is matched with.
    pub matched: usize,
    /// How many it waits for.
    pub expected: usize,
    /// Why it is not matched with others.
    pub mismatches: Vec<String>,
}

/// What an endpoint knows at the end; a publisher knows only `mismatches`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Closing {
    /// Samples that the publishers must have sent, by the sequences seen.
    pub last_seen: u64,
    /// Samples sent before this subscription's first.
    pub before_matched: u64,
    /// When the topic's last publisher had left, from the start; none if there was one at the end, or never.
    pub alone_since_ns: Option<i64>,
    /// Why endpoints of the topic were not matched, if none ever was or nothing was received.
    pub mismatches: Vec<String>,
}

#[cfg(test)]
mod tests;
