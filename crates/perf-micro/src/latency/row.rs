//! The latencies of a transport over all exchanges.

use std::collections::BTreeMap;

use serde::Serialize;

use super::exchange::{AGENT_PUBLISH, CLIENT_PUBLISH, QUANTITIES, ROUND_TRIP, Received, Sent};
use crate::{
    distribution::{Distribution, ms},
    options::Named,
    published::latency::{PublishedLatency as Published, like},
    transport::Transport,
};

/// The results of one transport.
#[derive(Clone, Debug, Serialize)]
pub struct LatencyRow {
    transport: Transport,
    /// The number of exchanges.
    n: usize,
    /// The quantities by their names.
    #[serde(flatten)]
    quantities: BTreeMap<&'static str, Distribution>,
}

impl LatencyRow {
    pub fn new(transport: Transport, exchanges: &[(Sent, Received)]) -> LatencyRow {
        let quantity = |(name, value): (&'static str, fn(&Sent, &Received) -> i64)| {
            (name, exchanges.iter().map(|(sent, received)| value(sent, received)).collect())
        };
        LatencyRow { transport, n: exchanges.len(), quantities: QUANTITIES.map(quantity).into() }
    }

    /// The row with the medians of the quantities that micro-ROS has published, beside the published values.
    pub fn medians(&self) -> Vec<String> {
        let here = [CLIENT_PUBLISH, AGENT_PUBLISH, ROUND_TRIP].map(|(name, _)| self.show(name, |of| of.p50_ns));
        let published = like(self.transport).map_or(["-"; 3].map(str::to_owned), Published::texts);
        let name = [self.transport.name(), self.n.to_string()];
        name.into_iter().chain(here).chain(published).collect()
    }

    /// The rows of a table, one for each quantity.
    pub fn distributions(&self) -> impl Iterator<Item = Vec<String>> {
        let percentiles: [fn(&Distribution) -> i64; 5] =
            [|of| of.min_ns, |of| of.p50_ns, |of| of.p99_ns, |of| of.p99_9_ns, |of| of.max_ns];
        QUANTITIES.into_iter().map(move |(name, _)| {
            let values = percentiles.map(|percentile| self.show(name, percentile));
            [self.transport.name(), name.replace('_', " ")].into_iter().chain(values).collect()
        })
    }

    /// The median of each quantity, with the name under which it is printed as a figure.
    pub fn figures(&self) -> impl Iterator<Item = (String, String)> {
        QUANTITIES.into_iter().map(|(name, _)| {
            let short = if name == ROUND_TRIP.0 { "rtt".to_owned() } else { name.replace('_', "-") };
            (format!("{}-{short}-ms", self.transport.name()), self.show(name, |of| of.p50_ns))
        })
    }

    /// Formats a value of a quantity in ms.
    fn show(&self, name: &str, value: impl Fn(&Distribution) -> i64) -> String {
        format!("{:.3}", ms(self.quantities.get(name).map_or(0, value)))
    }
}
