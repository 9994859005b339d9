//! Framings, which carry messages over byte streams and CAN-FD.
//!
//! Datagrams (UDP) need no framing. A decoder takes chunks of any size, and an encoder gives chunks of any size.
//! Neither of them borrows the message between calls: the caller passes the same memory each time, so a driver can
//! store a decoder or an encoder and its memory in one struct.
//!
//! # Invariants
//! - A decoder accounts for each byte: it belongs to a delivered frame, to dropped data, or to the frame that is
//!   being received.
//! - After any noise, a decoder finds the next complete frame.

pub mod can_fd;
mod crc;
mod length_prefix;
mod serial;
pub mod socket_can;

pub use length_prefix::{LengthPrefixDecoder, length_prefix};
pub use serial::{SerialCounters, SerialDecoder, SerialEncoder, SerialFrame};

/// A message that is longer than its framing can carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a message of {bytes} bytes does not fit into a frame, which carries {max_bytes}; send it in fragments")]
pub struct TooLong {
    /// The length of the message, in bytes.
    pub bytes: usize,
    /// The largest number of bytes that a frame carries.
    pub max_bytes: usize,
}
