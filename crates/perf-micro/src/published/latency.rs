//! Latency of reliable `std_msgs/Int64` with a synchronised clock. Each figure is of one exchange (n = 1).

use crate::transport::Transport;

/// A row of the published table.
#[derive(Debug)]
pub struct Row {
    /// The transport, as it is published.
    pub name: &'static str,
    /// The transport here that is like it; none if there is none.
    pub like: Option<Transport>,
    /// From the board to the host, by the synchronised clock, ms.
    pub client_publish_ms: f64,
    /// The rest of the round trip, ms.
    pub agent_publish_ms: f64,
    /// The round trip, ms.
    pub round_trip_ms: f64,
}

/// All rows.
pub const ROWS: [Row; 6] = [
    row("CAN-FD", Some(Transport::CanFdNoBrs), [1.29, 2.41, 3.70]),
    row("USB-CDC", Some(Transport::Usb), [1.09, 1.45, 2.55]),
    row("Serial UART", Some(Transport::Serial), [3.77, 5.04, 8.81]),
    row("UDP (ThreadX + NetX)", None, [0.54, 0.72, 1.26]),
    row("UDP (FreeRTOS + TCP)", None, [0.52, 0.70, 1.22]),
    row("TCP (PMOD WiFi)", Some(Transport::Tcp), [1.55, 2.04, 3.59]),
];

const fn row(name: &'static str, like: Option<Transport>, ms: [f64; 3]) -> Row {
    let [client_publish_ms, agent_publish_ms, round_trip_ms] = ms;
    Row { name, like, client_publish_ms, agent_publish_ms, round_trip_ms }
}

/// The published row that is like this transport.
#[must_use]
pub fn like(transport: Transport) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.like == Some(transport))
}
