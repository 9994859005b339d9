//! The latencies of a transport over all exchanges.

use serde::Serialize;

use super::exchange::Exchange;
use crate::transport::Transport;

/// The distribution of a quantity, ns. Percentiles are values that occurred (nearest rank).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Distribution {
    pub min_ns: i64,
    pub p50_ns: i64,
    pub p99_ns: i64,
    pub p99_9_ns: i64,
    pub max_ns: i64,
    pub mean_ns: f64,
}

impl Distribution {
    fn of(values_ns: impl Iterator<Item = i64>) -> Distribution {
        let mut values_ns: Vec<i64> = values_ns.collect();
        values_ns.sort_unstable();
        let n = values_ns.len();
        let rank = |part: f64| ((part * n as f64).ceil() as usize).clamp(1, n.max(1)) - 1;
        let at = |part: f64| values_ns.get(rank(part)).copied().unwrap_or_default();
        Distribution {
            min_ns: at(0.0),
            p50_ns: at(0.5),
            p99_ns: at(0.99),
            p99_9_ns: at(0.999),
            max_ns: at(1.0),
            mean_ns: values_ns.iter().sum::<i64>() as f64 / n.max(1) as f64,
        }
    }
}

/// A transport.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub transport: Transport,
    /// Exchanges.
    pub n: usize,
    pub client_publish: Distribution,
    pub agent_publish: Distribution,
    pub round_trip: Distribution,
    pub true_client_publish: Distribution,
    pub true_agent_publish: Distribution,
    pub clock_error: Distribution,
}

impl Row {
    pub fn new(transport: Transport, exchanges: &[Exchange]) -> Row {
        let of = |value: fn(&Exchange) -> i64| Distribution::of(exchanges.iter().map(value));
        Row {
            transport,
            n: exchanges.len(),
            client_publish: of(|exchange| exchange.client_publish_ns),
            agent_publish: of(|exchange| exchange.agent_publish_ns),
            round_trip: of(|exchange| exchange.round_trip_ns),
            true_client_publish: of(|exchange| exchange.true_client_publish_ns),
            true_agent_publish: of(|exchange| exchange.true_agent_publish_ns),
            clock_error: of(|exchange| exchange.clock_error_ns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_occurred() {
        let of = Distribution::of((1..=1000).rev());
        let Distribution { min_ns, p50_ns, p99_ns, p99_9_ns, max_ns, mean_ns } = of;
        assert_eq!((min_ns, p50_ns, p99_ns, p99_9_ns, max_ns, mean_ns), (1, 500, 990, 999, 1000, 500.5));
        assert_eq!(Distribution::of([7].into_iter()).p99_ns, 7);
        assert_eq!(Distribution::of(std::iter::empty()), Distribution::default());
    }
}
