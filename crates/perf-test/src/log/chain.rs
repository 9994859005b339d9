//! The figures of chains in Gantry's own log. A chain is a path of messages through several nodes of a topology.

use serde::{Deserialize, Serialize};

use super::Spread;

/// The figures of one chain of a topology, over all subscriptions at its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ChainEntry {
    /// The name of the chain.
    pub name: String,
    /// The end-to-end latencies from the oldest message at the start of the chain: from its send time to the reception
    /// by a subscription to the chain's last topic.
    pub latency: Spread,
    /// The median of `latency`, ns; null without messages.
    pub p50_ns: Option<u64>,
    /// The 99th percentile of `latency`, ns; null without messages, reliable from 1000 messages on.
    pub p99_ns: Option<u64>,
    /// The end-to-end latencies from the newest message at the start of the chain, to the same reception (the hot path
    /// latency of the Autoware reference system).
    pub newest: Spread,
    /// The median of `newest`, ns; null without messages.
    pub newest_p50_ns: Option<u64>,
    /// The 99th percentile of `newest`, ns; null without messages.
    pub newest_p99_ns: Option<u64>,
    /// The number of messages that subscriptions within the chain did not receive.
    pub dropped: u64,
}
