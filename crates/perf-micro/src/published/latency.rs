//! The published latency of reliable `std_msgs/Int64` messages, measured with a synchronised clock. Each figure comes
//! from one exchange (n = 1).

use crate::transport::Transport;

/// A row of the published table.
#[derive(Debug)]
pub struct PublishedLatency {
    /// The published name of the transport.
    pub name: &'static str,
    /// The transport of `perf_micro` that corresponds to the published one; `None` if no transport does.
    pub like: Option<Transport>,
    /// Three times in ms: from the board to the host by the synchronised clock, the rest of the round trip, and the
    /// whole round trip.
    pub ms: [f64; 3],
}

/// All rows.
pub const ROWS: [PublishedLatency; 6] = [
    PublishedLatency { name: "CAN-FD", like: Some(Transport::CanFdNoBrs), ms: [1.29, 2.41, 3.70] },
    PublishedLatency { name: "USB-CDC", like: Some(Transport::Usb), ms: [1.09, 1.45, 2.55] },
    PublishedLatency { name: "Serial UART", like: Some(Transport::Serial), ms: [3.77, 5.04, 8.81] },
    PublishedLatency { name: "UDP (ThreadX + NetX)", like: None, ms: [0.54, 0.72, 1.26] },
    PublishedLatency { name: "UDP (FreeRTOS + TCP)", like: None, ms: [0.52, 0.70, 1.22] },
    PublishedLatency { name: "TCP (PMOD WiFi)", like: Some(Transport::Tcp), ms: [1.55, 2.04, 3.59] },
];

impl PublishedLatency {
    /// The times in ms as texts.
    #[must_use]
    pub fn texts(&self) -> [String; 3] {
        self.ms.map(|ms| format!("{ms:.2}"))
    }
}

/// The published row that corresponds to this transport.
#[must_use]
pub fn like(transport: Transport) -> Option<&'static PublishedLatency> {
    ROWS.iter().find(|row| row.like == Some(transport))
}
