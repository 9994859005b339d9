//! What coordinator and workers say to each other: one JSON value a line, on the worker's stdin and stdout.
//!
//! ```text
//! coordinator                                  worker
//!   Plan                          ->
//!                                 <-  Ready             each endpoint, when it exists
//!                                 <-  Matched           each publisher, when all subscriptions are there
//!                                 <-  Unmatched         … or when it has waited too long;
//!   Explain                       ->                    then the subscriptions are asked
//!                                 <-  Explained
//!   Go { start_ns }               ->
//!                                 <-  Started           once, with what the set-up has used
//!                                 <-  Row               each endpoint, as soon as each second is over
//!   Stop                          ->                    only if the run ends early
//!                                 <-  Row, Finished     each publisher; it stays alive until stdin ends
//!   Drain { expected }            ->
//!                                 <-  Row, Finished     each subscription
//!   end of file                   ->                    the worker ends, whatever it is doing
//! ```
//! `Failed` may come instead of anything an endpoint owes; `Doubt` at any time. Every row carries the
//! usage of its whole process, so a worker that is killed leaves its last second behind.

use serde::{Deserialize, Serialize};

use crate::experiment::Experiment;
use crate::measure::tally::{Received, Sent};
use crate::measure::usage::Usage;

/// One publisher or one subscription of a run, by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Endpoint {
    /// A publisher.
    Publisher(u32),
    /// A subscription.
    Subscription(u32),
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Endpoint::Publisher(index) => write!(f, "publisher {index}"),
            Endpoint::Subscription(index) => write!(f, "subscription {index}"),
        }
    }
}

/// How long a publisher waits for the subscriptions of its run, seconds.
pub const MATCH_TIMEOUT_S: i64 = 30;

/// What one worker process is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// The run.
    pub experiment: Experiment,
    /// The full name of its topic, as `/perf_test_1f00…/test_topic`.
    pub topic: String,
    /// The endpoints that live in this worker, each on a thread.
    pub endpoints: Vec<Endpoint>,
}

/// What the coordinator tells a worker.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum Order {
    /// Say which publishers are missing, and why.
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
        /// Samples that all publishers together have sent.
        expected: u64,
    },
}

/// What an endpoint counted in one row.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Counts {
    /// A publisher.
    Sent(Sent),
    /// A subscription, with the cells of its latency histogram.
    Received(Received, Vec<(u64, u64)>),
}

/// What a worker tells the coordinator.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Report {
    /// The endpoint exists.
    Ready(Endpoint),
    /// The publisher sees all subscriptions of the run.
    Matched(Endpoint),
    /// The publisher has waited in vain.
    Unmatched {
        /// Which publisher.
        endpoint: Endpoint,
        /// Subscriptions that it sees.
        matched: usize,
    },
    /// How a subscription stands.
    Explained {
        /// Which subscription.
        endpoint: Endpoint,
        /// Publishers that it is matched with.
        publishers: usize,
        /// Why it is not matched with others.
        mismatches: Vec<String>,
    },
    /// The measurement begins in this process; what it has used so far is set-up.
    Started(Usage),
    /// One second of one endpoint.
    Row {
        /// Whose.
        endpoint: Endpoint,
        /// Row `k` covers second `k` from the start.
        second: u64,
        /// False for the piece of a second that an endpoint ends with.
        whole: bool,
        /// What it counted.
        counts: Counts,
        /// What its process has used so far.
        usage: Usage,
    },
    /// The endpoint has done all it had to do.
    Finished {
        /// Which.
        endpoint: Endpoint,
        /// What it knows at the end.
        closing: Closing,
        /// What its process has used in the end.
        usage: Usage,
    },
    /// Something odd that does not end the run.
    Doubt(Endpoint, String),
    /// The endpoint cannot go on. None: the whole worker.
    Failed(Option<Endpoint>, String),
}

/// What an endpoint knows at the end; a publisher knows only `mismatches`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
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
