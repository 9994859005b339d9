//! The figures of the chains of a topology.

use std::collections::BTreeMap;

use perf_worker::{
    measure::{cells::Cells, moments::Moments},
    worker::protocol::ChainReport,
};

/// The figures of one chain, over all subscriptions with which it ends.
#[derive(Clone, Debug, Default)]
pub struct ChainFigures {
    /// Its name.
    pub name: String,
    /// The latencies from the oldest of its first messages, ns.
    pub oldest_ns: Moments,
    /// Their distribution.
    pub oldest: Cells,
    /// The latencies from the newest of its first messages, ns.
    pub newest_ns: Moments,
    /// Their distribution.
    pub newest: Cells,
    /// Messages that subscriptions on its way did not receive.
    pub dropped: u64,
}

/// The chains of some reports, by their names.
pub fn merge<'a>(reports: impl IntoIterator<Item = &'a ChainReport>) -> BTreeMap<String, ChainFigures> {
    let mut chains: BTreeMap<String, ChainFigures> = BTreeMap::new();
    for report in reports {
        let chain = chains.entry(report.chain.clone()).or_default();
        chain.name.clone_from(&report.chain);
        chain.oldest_ns.merge(&report.oldest_ns);
        chain.oldest.add(&report.oldest);
        chain.newest_ns.merge(&report.newest_ns);
        chain.newest.add(&report.newest);
    }
    chains
}
