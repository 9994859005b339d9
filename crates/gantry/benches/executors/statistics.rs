//! The statistics of a row over its turns: the latencies of all messages for the table, and the figures of each turn
//! for comparisons.
//!
//! Rows are compared by the lower quartile of their turns, because other work of the machine makes some turns longer,
//! and a few turns much longer.

use crate::meter::Turn;
use bench_support::statistics::{lower_quartile, percentile};

/// The turns of a row.
#[derive(Default)]
pub struct Statistics {
    /// The number of messages that were published.
    pub published: usize,
    latencies_ns: Vec<u64>,
    /// The figures of each turn.
    cpus_ns: Vec<f64>,
    p99s_ns: Vec<f64>,
}

impl Statistics {
    /// Adds a turn.
    pub fn add_turn(&mut self, turn: Turn) {
        let Turn { published, mut latencies_ns, cpu_ns, .. } = turn;
        latencies_ns.sort_unstable();
        self.published += published;
        self.cpus_ns.push(cpu_ns);
        self.p99s_ns.push(percentile(&latencies_ns, 0.99));
        self.latencies_ns.append(&mut latencies_ns);
    }

    /// The number of messages that were delivered.
    pub fn delivered(&self) -> usize {
        self.latencies_ns.len()
    }

    /// The CPU time per message in ns: the lower quartile over the turns.
    pub fn cpu_ns(&self) -> f64 {
        lower_quartile(self.cpus_ns.iter().copied())
    }

    /// The 99th percentile of a turn's latencies in ns: the lower quartile over the turns.
    pub fn p99_ns(&self) -> f64 {
        lower_quartile(self.p99s_ns.iter().copied())
    }

    /// The quantiles of all latencies at these fractions, in ns (nearest rank).
    pub fn latencies_ns<const N: usize>(&self, fractions: [f64; N]) -> [f64; N] {
        let mut sorted = self.latencies_ns.clone();
        sorted.sort_unstable();
        fractions.map(|fraction| percentile(&sorted, fraction))
    }
}
