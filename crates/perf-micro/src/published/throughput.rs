//! Throughput: best-effort `std_msgs/String`, payload bytes that a ROS 2 subscription received in a second.

use crate::transport::Transport;

/// A curve of the published plots.
#[derive(Debug)]
pub struct Curve {
    /// The transport, as it is published.
    pub name: &'static str,
    /// The transport here that is like it; none if there is none.
    pub like: Option<Transport>,
    /// Payload bytes of a message, and bytes per second (plot).
    pub points: &'static [(usize, f64)],
}

/// All curves.
pub const CURVES: [Curve; 6] = [
    Curve {
        name: "Serial UART, 115200 bit/s",
        like: Some(Transport::Serial),
        points: &[(10, 3.3e3), (100, 9.3e3), (200, 10.2e3), (400, 10.8e3)],
    },
    Curve {
        name: "USB-CDC",
        like: Some(Transport::Usb),
        points: &[(10, 75e3), (100, 300e3), (200, 330e3), (400, 370e3)],
    },
    Curve {
        name: "TCP, WiFi module at 460800 bit/s",
        like: Some(Transport::Tcp),
        points: &[(10, 16e3), (100, 40e3), (200, 44e3), (400, 46e3)],
    },
    // Its code does not set the bit rate switch: these are figures of 0.5 Mbit/s.
    Curve { name: "CAN-FD", like: Some(Transport::CanFdNoBrs), points: &[(10, 6.8e3), (20, 19e3), (40, 31e3)] },
    Curve {
        name: "UDP (FreeRTOS + TCP)",
        like: None,
        points: &[(10, 100e3), (100, 0.9e6), (200, 1.8e6), (400, 2.6e6)],
    },
    Curve {
        name: "UDP (ThreadX + NetX)",
        like: None,
        points: &[(10, 125e3), (100, 1.07e6), (200, 2.35e6), (400, 3.5e6)],
    },
];

/// The published bytes per second of a transport at this payload.
#[must_use]
pub fn bytes_per_s(transport: Transport, payload_bytes: usize) -> Option<f64> {
    let curve = CURVES.iter().find(|curve| curve.like == Some(transport))?;
    curve.points.iter().find(|(bytes, _)| *bytes == payload_bytes).map(|(_, bytes_per_s)| *bytes_per_s)
}
