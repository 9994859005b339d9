//! Fragments of messages: a datagram has a header and one fragment.

use crate::announcement::Id;

/// The largest number of bytes of a message in one datagram. With the header, such a datagram has the largest multiple
/// of 64 bytes (a cache line) that UDP over IPv4 carries.
pub const MOST_BYTES: usize = 65_472 - HEADER_BYTES;
/// The size of a header.
pub const HEADER_BYTES: usize = 32;

/// The header of a fragment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The publisher.
    pub source: Id,
    /// The number of the message.
    pub sequence: u64,
    /// The offset of the fragment in the message.
    pub offset: u64,
}

impl Header {
    /// The bytes of the header.
    pub fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..16].copy_from_slice(&self.source);
        bytes[16..24].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[24..].copy_from_slice(&self.offset.to_le_bytes());
        bytes
    }

    /// The header of these bytes.
    pub fn from_bytes(bytes: [u8; HEADER_BYTES]) -> Header {
        let word = |at: usize| {
            let word = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>());
            word.map_or(0, |word| u64::from_le_bytes(*word))
        };
        let source = bytes.first_chunk().copied().unwrap_or_default();
        Header { source, sequence: word(16), offset: word(24) }
    }
}
