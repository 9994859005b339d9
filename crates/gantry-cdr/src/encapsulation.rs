//! The encapsulation header: four bytes before a body, which state its encoding.
//!
//! In Gantry's shared memory, a body is always little-endian CDR, and its encapsulation header is part of the slot's
//! header. In bags, bridges and DDS, header and body are in one buffer. The values are from DDS-XTypes 1.3, table 60.

use crate::error::{Error, Problem, Result};

/// The encapsulation header of every message that Gantry builds: CDR, little endian, no options.
pub const ENCAPSULATION: [u8; 4] = [0, 1, 0, 0];

/// The order of the bytes in a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// The order of x86-64 and aarch64.
    LittleEndian,
    /// Network byte order.
    BigEndian,
}

/// Splits an encapsulated message into its byte order and its body.
///
/// # Errors
/// `bytes` has fewer than four bytes, or ROS 2 does not use this encoding (parameter lists, XCDR2).
pub fn split(bytes: &[u8]) -> Result<(ByteOrder, &[u8])> {
    let Some((header, body)) = bytes.split_first_chunk::<4>() else {
        return Err(Error::new(Problem::TooShort { needed_bytes: 4, left_bytes: bytes.len() }, 0));
    };
    match header {
        [0, 0, ..] => Ok((ByteOrder::BigEndian, body)),
        [0, 1, ..] => Ok((ByteOrder::LittleEndian, body)),
        [first, second, ..] => Err(Error::new(Problem::Encapsulation(*first, *second), 0)),
    }
}
