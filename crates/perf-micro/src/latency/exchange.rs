//! An exchange: a number that the board publishes and the host sends back.

use std::collections::BTreeMap;

/// The board's side of an exchange. Times are in ns of CLOCK_MONOTONIC, unless they say otherwise.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// The number: the time of the agent's clock as the board has it.
    pub stamp_ns: i64,
    /// The time of that clock, which is CLOCK_REALTIME.
    pub real_ns: i64,
    /// The publication.
    pub sent_ns: i64,
    /// The return.
    pub returned_ns: i64,
}

/// The host's side.
#[derive(Clone, Copy, Debug)]
pub struct Received {
    /// The number.
    pub stamp_ns: i64,
    /// The reception.
    pub received_ns: i64,
    /// Just before the node publishes it again.
    pub answered_ns: i64,
    /// CLOCK_REALTIME at the reception.
    pub real_ns: i64,
}

/// The latencies of an exchange, ns. The published test measures the first three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// From the board to the host by the board's synchronised clock.
    pub client_publish_ns: i64,
    /// The rest of the round trip.
    pub agent_publish_ns: i64,
    /// From the publication to the return.
    pub round_trip_ns: i64,
    /// From the board to the host by the host's clock.
    pub true_client_publish_ns: i64,
    /// From the host to the board by the host's clock.
    pub true_agent_publish_ns: i64,
    /// The board's synchronised clock minus the agent's.
    pub clock_error_ns: i64,
}

/// The exchanges of which both sides are known, in the order of the board.
pub fn joined(sent: &[Sent], received: &[Received]) -> Vec<Exchange> {
    let by_stamp: BTreeMap<i64, &Received> = received.iter().map(|received| (received.stamp_ns, received)).collect();
    let exchange = |sent: &Sent| {
        let received = by_stamp.get(&sent.stamp_ns)?;
        let round_trip_ns = sent.returned_ns - sent.sent_ns;
        let client_publish_ns = received.real_ns - sent.stamp_ns;
        Some(Exchange {
            client_publish_ns,
            agent_publish_ns: round_trip_ns - client_publish_ns,
            round_trip_ns,
            true_client_publish_ns: received.received_ns - sent.sent_ns,
            true_agent_publish_ns: sent.returned_ns - received.answered_ns,
            clock_error_ns: sent.stamp_ns - sent.real_ns,
        })
    };
    sent.iter().filter_map(exchange).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_the_clock_moves_time_from_one_way_to_the_other() {
        // The board's clock is 700 ns behind; the ways take 3000 ns and 2000 ns, the host 100 ns.
        let sent = Sent { stamp_ns: 1_000_000, real_ns: 1_000_700, sent_ns: 50, returned_ns: 5150 };
        let received = Received { stamp_ns: 1_000_000, received_ns: 3050, answered_ns: 3150, real_ns: 1_003_700 };
        let lost = Sent { stamp_ns: 2_000_000, ..sent };
        let expected = Exchange {
            client_publish_ns: 3700,
            agent_publish_ns: 1400,
            round_trip_ns: 5100,
            true_client_publish_ns: 3000,
            true_agent_publish_ns: 2000,
            clock_error_ns: -700,
        };
        assert_eq!(joined(&[sent, lost], &[received]), [expected]);
    }
}
