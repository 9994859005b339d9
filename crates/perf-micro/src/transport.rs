//! The transports of the experiments: the lines of micro-ROS's published benchmark, or their replacements on
//! this host.

use clap::ValueEnum;
use gantry_agent::CanTiming;
use gantry_xrce::framing::{can_fd, socket_can::Frame};
use serde::Serialize;

/// A transport of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// A serial line of 115200 bit/s: the agent has a pseudo-terminal, and a relay paces each byte.
    Serial,
    /// A USB serial device, full speed: the same line, paced to 1216 bytes in a ms, as 19 full packets have.
    Usb,
    /// TCP through a WiFi module on a serial line of 460800 bit/s: the loopback interface, paced by the byte.
    Tcp,
    /// UDP: the loopback interface, not paced.
    Udp,
    /// CAN FD, 0.5 Mbit/s and 2 Mbit/s for data: a simulated bus with the time of each bit.
    CanFd,
    /// CAN FD, 0.5 Mbit/s without a bit rate switch: a simulated bus with the time of each bit.
    CanFdNoBrs,
}

/// The speed of a line that a relay limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed {
    /// The bytes per second in each direction.
    pub bytes_per_s: f64,
    /// The number of bytes that the relay moves as one chunk.
    pub chunk_bytes: usize,
}

/// The CAN identifier of the board.
pub const CAN_IDENTIFIER: u32 = 0x11;
/// The bits that a byte takes on a serial line: a start bit, 8 data bits, a stop bit.
const BITS_OF_BYTE: f64 = 10.0;
/// The size of a bulk packet at full speed, bytes (USB 2.0, table 5-9).
const USB_PACKET_BYTES: usize = 64;
/// The number of bulk packets per second at full speed: a frame of 1 ms has room for 19 (USB 2.0, table 5-9).
const USB_PACKETS_PER_S: f64 = 19_000.0;

impl Transport {
    /// The bit rate of a serial port, which both ends must set.
    #[must_use]
    pub fn baud(self) -> u32 {
        if self == Transport::Tcp { 460_800 } else { 115_200 }
    }

    /// The speed of the transport's line; `None` if the line has no limited speed, or is a bus.
    #[must_use]
    pub fn speed(self) -> Option<Speed> {
        let (bytes_per_s, chunk_bytes) = match self {
            Transport::Serial | Transport::Tcp => (f64::from(self.baud()) / BITS_OF_BYTE, 16),
            Transport::Usb => (USB_PACKETS_PER_S * USB_PACKET_BYTES as f64, USB_PACKET_BYTES),
            Transport::Udp | Transport::CanFd | Transport::CanFdNoBrs => return None,
        };
        Some(Speed { bytes_per_s, chunk_bytes })
    }

    /// The bit rates of the transport's bus: first the nominal rate, then the rate for data. `None` if the line is no
    /// bus.
    #[must_use]
    pub fn bit_rates(self) -> Option<[u32; 2]> {
        match self {
            Transport::CanFd => Some([500_000, 2_000_000]),
            Transport::CanFdNoBrs => Some([500_000, 500_000]),
            _ => None,
        }
    }

    /// The number of messages of this kind that the line can carry in a second; `None` if the line has no limited
    /// speed. On a bus, the messages of both directions share this number.
    #[must_use]
    pub fn messages_per_s(self, message: &[u8]) -> Option<f64> {
        if let Some([nominal, data]) = self.bit_rates() {
            let mut frame = [0; can_fd::MAX_FRAME_BYTES];
            let length = can_fd::encode(message, &mut frame).ok()?;
            let frame = Frame { identifier: CAN_IDENTIFIER, has_bit_rate_switch: true, data: frame.get(..length)? };
            return Some(1.0 / CanTiming::new(nominal, data).ok()?.frame_time(&frame).as_secs_f64());
        }
        Some(self.speed()?.bytes_per_s / (message.len() + self.framing_bytes(message.len())) as f64)
    }

    /// The bytes that the framing adds to a message of this length. Serial framing replaces some bytes by two bytes;
    /// these are not counted.
    #[must_use]
    pub fn framing_bytes(self, message_bytes: usize) -> usize {
        match self {
            Transport::Serial | Transport::Usb => 7,
            Transport::Tcp => 2,
            Transport::Udp => 0,
            // The framing of CAN FD is a byte with the length, and zeros up to the next permitted length of a frame.
            Transport::CanFd | Transport::CanFdNoBrs => {
                let lengths = can_fd::FRAME_LENGTHS.iter().map(|length| usize::from(*length));
                lengths.filter(|length| *length > message_bytes).min().unwrap_or(message_bytes) - message_bytes
            }
        }
    }

    /// True if each message is a packet; otherwise the line is a stream of bytes.
    #[must_use]
    pub fn is_packet_oriented(self) -> bool {
        matches!(self, Transport::Udp | Transport::CanFd | Transport::CanFdNoBrs)
    }
}
