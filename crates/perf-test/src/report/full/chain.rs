//! The chains of a topology in Gantry's own log.

use serde::{Deserialize, Serialize};

use super::Spread;
use crate::report::summary::ChainFigures;
use perf_worker::measure::cells::Cells;

/// One chain, over all subscriptions with which it ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ChainEntry {
    /// Its name.
    pub name: String,
    /// The latencies from the stamp of the oldest of its first messages until a subscription to its last topic
    /// received.
    pub latency: Spread,
    /// The median of them, ns; null without messages, as the next.
    pub p50_ns: Option<u64>,
    /// The 99th percentile, ns; reliable from 1000 messages on.
    pub p99_ns: Option<u64>,
    /// The latencies from the newest of its first messages instead: the hot path latency of the Autoware reference
    /// system.
    pub newest: Spread,
    /// The median of these, ns.
    pub newest_p50_ns: Option<u64>,
    /// The 99th percentile of these, ns.
    pub newest_p99_ns: Option<u64>,
    /// Messages that subscriptions on its way did not receive.
    pub dropped: u64,
}

impl ChainEntry {
    /// Of its figures.
    pub fn of(figures: &ChainFigures) -> ChainEntry {
        let quantile_ns = |cells: &Cells, quantile| (cells.n() > 0).then(|| cells.quantile_ns(quantile));
        ChainEntry {
            name: figures.name.clone(),
            latency: Spread::of(&figures.oldest_ns),
            p50_ns: quantile_ns(&figures.oldest, 0.5),
            p99_ns: quantile_ns(&figures.oldest, 0.99),
            newest: Spread::of(&figures.newest_ns),
            newest_p50_ns: quantile_ns(&figures.newest, 0.5),
            newest_p99_ns: quantile_ns(&figures.newest, 0.99),
            dropped: figures.dropped,
        }
    }
}
