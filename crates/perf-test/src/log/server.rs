//! The figures of a topology's servers in Gantry's own log.

use serde::{Deserialize, Serialize};

use perf_worker::{endpoint::Endpoint, measure::tally::Relayed};

/// One server of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ServerEntry {
    /// The index of the server.
    pub index: u32,
    /// The number of requests that the server's clients sent.
    pub sent: u64,
    /// The counts of the requests that the server answered.
    pub relayed: Relayed,
}

impl ServerEntry {
    /// The server as an endpoint.
    #[must_use]
    pub fn endpoint(&self) -> Endpoint {
        Endpoint::Relay(self.index)
    }
}
