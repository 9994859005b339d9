//! Framings, which mark the start and the end of each message in a byte stream or a CAN-FD frame.
//!
//! Datagrams (UDP) need no framing. A decoder reads chunks of any size, and an encoder writes chunks of any size.
//! Between calls, they do not borrow the message: the caller passes the same memory in each call. So a driver can store
//! an encoder or a decoder and its memory in one struct.
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
