//! The four bytes before a body: how it is encoded.
//!
//! Inside Gantry a body is known to be little endian CDR and its header lies in the slot's; bags, bridges and DDS put both in
//! one buffer. Values from DDS-XTypes 1.3, table 60.

use crate::error::{Error, Problem, Result};

/// Before every message that Gantry builds: CDR, little endian, no options.
pub const ENCAPSULATION: [u8; 4] = [0, 1, 0, 0];

/// In which order the bytes of a number stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// As in the memory of x86-64 and aarch64.
    LittleEndian,
    /// As on a network.
    BigEndian,
}

/// Splits an encapsulated message into its order and its body.
///
/// # Errors
/// Fewer than four bytes, or an encoding that ROS 2 does not use (parameter lists, XCDR2).
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
