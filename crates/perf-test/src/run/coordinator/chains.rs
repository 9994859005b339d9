//! The sums of the chains of a topology. A chain is a path of messages through several nodes.

use std::collections::BTreeMap;

use crate::log::{ChainEntry, Spread};
use perf_worker::{
    measure::{cells::Cells, moments::Moments},
    worker::protocol::ChainReport,
};

/// The sums of one chain, over all subscriptions at its end.
#[derive(Debug, Default)]
pub struct ChainSums {
    /// The latencies from the send time of the oldest message at the chain's start, ns.
    oldest: (Moments, Cells),
    /// The latencies from the send time of the newest message at the chain's start, ns.
    newest: (Moments, Cells),
    /// The number of messages that subscriptions within the chain did not receive.
    pub dropped: u64,
}

impl ChainSums {
    /// The figures of the chain with this name.
    pub fn entry(&self, name: String) -> ChainEntry {
        let quantile_ns = |cells: &Cells, quantile| (cells.n() > 0).then(|| cells.quantile_ns(quantile));
        let ((oldest_ns, oldest), (newest_ns, newest)) = (&self.oldest, &self.newest);
        ChainEntry {
            name,
            latency: Spread::from_moments(oldest_ns),
            p50_ns: quantile_ns(oldest, 0.5),
            p99_ns: quantile_ns(oldest, 0.99),
            newest: Spread::from_moments(newest_ns),
            newest_p50_ns: quantile_ns(newest, 0.5),
            newest_p99_ns: quantile_ns(newest, 0.99),
            dropped: self.dropped,
        }
    }
}

/// Merges the chains of these reports. Chains with the same name are added up.
pub fn merge<'a>(reports: impl IntoIterator<Item = &'a ChainReport>) -> BTreeMap<String, ChainSums> {
    let mut chains: BTreeMap<String, ChainSums> = BTreeMap::new();
    for report in reports {
        let chain = chains.entry(report.chain.clone()).or_default();
        chain.oldest.0.merge(&report.oldest_ns);
        chain.oldest.1.add(&report.oldest);
        chain.newest.0.merge(&report.newest_ns);
        chain.newest.1.add(&report.newest);
    }
    chains
}
