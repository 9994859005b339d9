//! The servers of a topology in Gantry's own log.

use serde::{Deserialize, Serialize};

use super::summary::index;
use crate::report::summary::ServerFigures;
use perf_worker::measure::tally::Relayed;

/// One server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ServerEntry {
    /// Its index.
    pub index: u32,
    /// Requests that its clients sent.
    pub sent: u64,
    /// The requests that it answered.
    pub relayed: Relayed,
}

impl ServerEntry {
    /// Of its figures.
    pub fn of(figures: &ServerFigures) -> ServerEntry {
        ServerEntry { index: index(figures.endpoint), sent: figures.sent, relayed: figures.relayed }
    }
}
