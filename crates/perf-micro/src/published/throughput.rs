//! The published throughput: payload bytes of best-effort `std_msgs/String` messages that a ROS 2 subscription received
//! per second.

use crate::transport::Transport;

/// The payload bytes of the messages over all transports except CAN.
const PAYLOADS: [usize; 4] = [10, 100, 200, 400];
/// The payload bytes of the messages over CAN.
const CAN_PAYLOADS: [usize; 3] = [10, 20, 40];

/// A curve of the published plots.
#[derive(Debug)]
pub struct Curve {
    /// The published name of the transport.
    pub name: &'static str,
    /// The transport of `perf_micro` that corresponds to the published one; `None` if no transport does.
    pub like: Option<Transport>,
    payloads: &'static [usize],
    bytes_per_s: &'static [f64],
}

/// All curves.
pub const CURVES: [Curve; 6] = [
    curve("Serial UART, 115200 bit/s", Some(Transport::Serial), &[3.3e3, 9.3e3, 10.2e3, 10.8e3]),
    curve("USB-CDC", Some(Transport::Usb), &[75e3, 300e3, 330e3, 370e3]),
    curve("TCP, WiFi module at 460800 bit/s", Some(Transport::Tcp), &[16e3, 40e3, 44e3, 46e3]),
    // The published code does not set the bit rate switch, so this curve was measured at 0.5 Mbit/s.
    Curve { payloads: &CAN_PAYLOADS, ..curve("CAN-FD", Some(Transport::CanFdNoBrs), &[6.8e3, 19e3, 31e3]) },
    curve("UDP (FreeRTOS + TCP)", None, &[100e3, 0.9e6, 1.8e6, 2.6e6]),
    curve("UDP (ThreadX + NetX)", None, &[125e3, 1.07e6, 2.35e6, 3.5e6]),
];

const fn curve(name: &'static str, like: Option<Transport>, bytes_per_s: &'static [f64]) -> Curve {
    Curve { name, like, payloads: &PAYLOADS, bytes_per_s }
}

impl Curve {
    /// The points of the curve: the payload bytes of a message, and the bytes per second (read from the plot).
    pub fn points(&self) -> impl Iterator<Item = (usize, f64)> {
        self.payloads.iter().copied().zip(self.bytes_per_s.iter().copied())
    }
}

/// The published bytes per second of a transport for messages with this payload.
#[must_use]
pub fn bytes_per_s(transport: Transport, payload_bytes: usize) -> Option<f64> {
    let curve = CURVES.iter().find(|curve| curve.like == Some(transport))?;
    curve.points().find(|(bytes, _)| *bytes == payload_bytes).map(|(_, bytes_per_s)| bytes_per_s)
}
