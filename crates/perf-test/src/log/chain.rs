//! The chains of a topology in Gantry's own log.

use serde::{Deserialize, Serialize};

use super::Spread;

/// One chain, over all subscriptions with which it ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ChainEntry {
    /// Its name.
    pub name: String,
    /// The latencies of the chain: from the stamp of the oldest of its first messages to the reception by a
    /// subscription to its last topic.
    pub latency: Spread,
    /// The median of `latency`, ns; this and the next are null without messages.
    pub p50_ns: Option<u64>,
    /// The 99th percentile, ns; reliable from 1000 messages on.
    pub p99_ns: Option<u64>,
    /// The same latencies, counted from the newest of the first messages: the hot path latency of the Autoware
    /// reference system.
    pub newest: Spread,
    /// The median of these, ns.
    pub newest_p50_ns: Option<u64>,
    /// The 99th percentile of these, ns.
    pub newest_p99_ns: Option<u64>,
    /// Messages that subscriptions on its way did not receive.
    pub dropped: u64,
}
