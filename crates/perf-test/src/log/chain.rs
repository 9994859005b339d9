//! The chains of a topology in Gantry's own log.

use serde::{Deserialize, Serialize};

use super::Spread;

/// The figures of one chain of a topology, over all subscriptions with which the chain ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ChainEntry {
    /// The name of the chain.
    pub name: String,
    /// The latencies of the chain, from the stamp of the oldest message that began it to the reception by a
    /// subscription to its last topic.
    pub latency: Spread,
    /// The median of `latency`, ns; null without messages.
    pub p50_ns: Option<u64>,
    /// The 99th percentile of `latency`, ns; null without messages, reliable from 1000 messages on.
    pub p99_ns: Option<u64>,
    /// The latencies of the chain, from the stamp of the newest message that began it to the same reception: the hot
    /// path latency of the Autoware reference system.
    pub newest: Spread,
    /// The median of `newest`, ns; null without messages.
    pub newest_p50_ns: Option<u64>,
    /// The 99th percentile of `newest`, ns; null without messages.
    pub newest_p99_ns: Option<u64>,
    /// The messages that subscriptions within the chain did not receive.
    pub dropped: u64,
}
