//! The counts of a topology: its nodes and endpoints, and its messages per second.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{Topology, process::Process};
use perf_worker::clock::SECOND_NS;

/// The size of a topology and its messages per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Counts {
    /// The number of processes.
    pub processes: usize,
    /// The number of executors in all processes.
    pub executors: usize,
    /// The number of nodes.
    pub nodes: usize,
    /// The number of topics.
    pub topics: usize,
    /// The number of publishers.
    pub publishers: usize,
    /// The number of subscriptions.
    pub subscriptions: usize,
    /// The number of services.
    pub services: usize,
    /// The number of clients.
    pub clients: usize,
    /// The number of messages that all publishers send per second.
    pub sent_hz: f64,
    /// The number of messages that all subscriptions receive per second.
    pub received_hz: f64,
    /// The number of requests that all clients send per second.
    pub requests_hz: f64,
    /// The number of payload bytes that all publishers send per second.
    pub sent_bytes_per_s: f64,
}

impl Topology {
    /// Counts the elements of the topology and its messages per second.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let processes = &self.processes;
        let nodes = || processes.iter().flat_map(|process| &process.nodes);
        let publishers = || nodes().flat_map(|node| &node.publishers);
        let subscriptions = || nodes().flat_map(|node| &node.subscriptions);
        let (clients, servers) = (|| nodes().flat_map(|node| &node.clients), || nodes().flat_map(|node| &node.servers));
        let mut rates_hz: BTreeMap<&str, f64> = BTreeMap::new();
        for publisher in publishers() {
            *rates_hz.entry(&publisher.topic).or_default() += publisher.rate_hz;
        }
        let received_hz = |topic: &str| rates_hz.get(topic).copied().unwrap_or_default();
        let topics = publishers().map(|of| &of.topic).chain(subscriptions().map(|of| &of.topic));
        let services = clients().map(|of| &of.service).chain(servers().map(|of| &of.service));
        let executors =
            |process: &Process| process.nodes.iter().map(|node| node.executor).collect::<BTreeSet<u32>>().len();
        Counts {
            processes: processes.len(),
            executors: processes.iter().map(executors).sum(),
            nodes: nodes().count(),
            topics: topics.collect::<BTreeSet<_>>().len(),
            publishers: publishers().count(),
            subscriptions: subscriptions().count(),
            services: services.collect::<BTreeSet<_>>().len(),
            clients: clients().count(),
            sent_hz: total(publishers().map(|publisher| publisher.rate_hz)),
            received_hz: total(subscriptions().map(|subscription| received_hz(&subscription.topic))),
            requests_hz: total(clients().map(|client| SECOND_NS as f64 / client.pace.per_ns as f64)),
            sent_bytes_per_s: total(publishers().map(|of| of.rate_hz * of.payload.payload_bytes as f64)),
        }
    }
}

/// The sum of the values. The sum of no values is 0; `Iterator::sum` would return -0.
fn total(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |sum, value| sum + value)
}
