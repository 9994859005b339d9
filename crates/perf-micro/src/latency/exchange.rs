//! An exchange: a number that the board publishes and the host sends back.

use std::collections::BTreeMap;

/// The board's side of an exchange. Times are in ns of CLOCK_MONOTONIC, unless another clock is named.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// The number that travels: the agent's time, read from the board's synchronised clock.
    pub stamp_ns: i64,
    /// The time by the agent's clock itself, which is CLOCK_REALTIME.
    pub real_ns: i64,
    /// The time of the publication.
    pub sent_ns: i64,
    /// The time at which the number came back.
    pub returned_ns: i64,
}

/// The host's side of an exchange.
#[derive(Clone, Copy, Debug)]
pub struct Received {
    /// The number that the host received.
    pub stamp_ns: i64,
    /// The time of the reception.
    pub received_ns: i64,
    /// The time just before the node sends the number back.
    pub answered_ns: i64,
    /// CLOCK_REALTIME at the reception.
    pub real_ns: i64,
}

/// The name of a quantity of an exchange, and the function that computes it, in ns.
pub type Quantity = (&'static str, fn(&Sent, &Received) -> i64);

/// The time from the board to the host by the board's synchronised clock.
pub const CLIENT_PUBLISH: Quantity = ("client_publish", |sent, received| received.real_ns - sent.stamp_ns);
/// The rest of the round trip, after the reception by the host.
pub const AGENT_PUBLISH: Quantity =
    ("agent_publish", |sent, received| sent.round_trip_ns() - (CLIENT_PUBLISH.1)(sent, received));
/// The time from the publication to the return of the number.
pub const ROUND_TRIP: Quantity = ("round_trip", |sent, _| sent.round_trip_ns());

/// All quantities. micro-ROS's published test measures the three constants above. The true times come from the host's
/// clock, which both sides read here. The clock error is the difference between the board's synchronised clock and the
/// agent's clock.
pub const QUANTITIES: [Quantity; 6] = [
    CLIENT_PUBLISH,
    ("true_client_publish", |sent, received| received.received_ns - sent.sent_ns),
    AGENT_PUBLISH,
    ("true_agent_publish", |sent, received| sent.returned_ns - received.answered_ns),
    ROUND_TRIP,
    ("clock_error", |sent, _| sent.stamp_ns - sent.real_ns),
];

impl Sent {
    /// The time from the publication to the return of the number, ns.
    pub fn round_trip_ns(&self) -> i64 {
        self.returned_ns - self.sent_ns
    }
}

/// Returns the exchanges that both the board and the host have recorded, in the order of `sent`.
pub fn joined(sent: &[Sent], received: &[Received]) -> Vec<(Sent, Received)> {
    let by_stamp: BTreeMap<i64, &Received> = received.iter().map(|received| (received.stamp_ns, received)).collect();
    sent.iter().filter_map(|sent| Some((*sent, **by_stamp.get(&sent.stamp_ns)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_the_clock_moves_time_from_one_way_to_the_other() {
        // The board's clock is 700 ns behind; the two directions take 3000 ns and 2000 ns, the host 100 ns.
        let sent = Sent { stamp_ns: 1_000_000, real_ns: 1_000_700, sent_ns: 50, returned_ns: 5150 };
        let received = Received { stamp_ns: 1_000_000, received_ns: 3050, answered_ns: 3150, real_ns: 1_003_700 };
        let lost = Sent { stamp_ns: 2_000_000, ..sent };
        let exchanges = joined(&[sent, lost], &[received]);
        assert_eq!(exchanges.len(), 1);
        let values_ns = QUANTITIES.map(|(_, value)| value(&exchanges[0].0, &exchanges[0].1));
        assert_eq!(values_ns, [3700, 3000, 1400, 2000, 5100, -700]);
    }
}
