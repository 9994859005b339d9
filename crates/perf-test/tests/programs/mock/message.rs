//! A message of the mock in transit: ids, times, length, and the first bytes of the payload.
//!
//! The other bytes of a large message are not sent, because the mock tests the instrument, not memory. Time and id are
//! encoded as with `--raw`, even in a message that has a type.

use perf_worker::{
    raw::{self, RAW_HEADER_BYTES},
    stamp::{Stamp, Stamped},
};

/// The number of payload bytes that are sent. `--touch` reads the first byte of every page, or all bytes.
pub const PAYLOAD_BYTES: usize = 64;
/// The header: source, time and id, time of sending, and length.
const HEADER_BYTES: usize = 16 + RAW_HEADER_BYTES + 2 * 8;
/// The size in bytes of the longest message in transit.
pub const LONGEST_BYTES: usize = HEADER_BYTES + PAYLOAD_BYTES;

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The id of the publisher.
    pub source: [u8; 16],
    /// The sequence number in the message.
    pub id: u64,
    /// The time in the message, in ns of the publisher's clock.
    pub time_ns: i64,
    /// The time at which the publisher or the relay sent the message on this topic, in ns of CLOCK_MONOTONIC.
    pub departed_ns: i64,
    /// The length of the whole message, bytes.
    pub length_bytes: u64,
    payload: [u8; PAYLOAD_BYTES],
    payload_bytes: usize,
}

impl Message {
    /// Creates a message. Only the first [`PAYLOAD_BYTES`] of its payload are sent.
    pub fn new(
        source: [u8; 16],
        id: u64,
        time_ns: i64,
        departed_ns: i64,
        length_bytes: u64,
        first_of_payload: &[u8],
    ) -> Message {
        let payload_bytes = first_of_payload.len().min(PAYLOAD_BYTES);
        let mut payload = [0; PAYLOAD_BYTES];
        payload[..payload_bytes].copy_from_slice(&first_of_payload[..payload_bytes]);
        Message { source, id, time_ns, departed_ns, length_bytes, payload, payload_bytes }
    }

    /// True if this is a probe. Probes show, before the start, that messages arrive.
    pub fn is_probe(&self) -> bool {
        self.time_ns == 0
    }

    /// The bytes of the payload that are sent.
    pub fn payload(&self) -> &[u8] {
        &self.payload[..self.payload_bytes]
    }

    /// Damages the first byte of the payload. A message without a payload stays intact.
    pub fn corrupt(&mut self) {
        self.payload[0] = !self.payload[0];
    }

    /// The bytes of the message in transit, and their number. The bytes after this number are not sent.
    pub fn to_bytes(self) -> ([u8; LONGEST_BYTES], usize) {
        let mut bytes = [0; LONGEST_BYTES];
        bytes[..16].copy_from_slice(&self.source);
        raw::write_stamp(&mut bytes[16..], Stamp { time_ns: self.time_ns, id: self.id, rate_hz: 0 });
        let numbers = [self.departed_ns as u64, self.length_bytes];
        for (field, number) in bytes[16 + RAW_HEADER_BYTES..].chunks_exact_mut(8).zip(numbers) {
            field.copy_from_slice(&number.to_ne_bytes());
        }
        bytes[HEADER_BYTES..].copy_from_slice(&self.payload);
        (bytes, HEADER_BYTES + self.payload_bytes)
    }

    /// Parses received bytes; `None` if they are not a message.
    pub fn from_bytes(bytes: &[u8]) -> Option<Message> {
        let (source, rest) = bytes.split_first_chunk::<16>()?;
        let (header, payload) = rest.split_at_checked(HEADER_BYTES - 16)?;
        let Stamped { time_ns, id } = raw::read_stamp(header)?;
        let numbers = raw::payload(header).chunks_exact(8);
        let mut numbers = numbers.filter_map(|number| Some(u64::from_ne_bytes(number.try_into().ok()?)));
        let (departed, length_bytes) = (numbers.next()?, numbers.next()?);
        Some(Message::new(*source, id, time_ns, departed as i64, length_bytes, payload))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_arrives_as_it_was_sent() {
        for payload in [&[][..], &[1, 2, 3], &[9; PAYLOAD_BYTES], &[9; 2 * PAYLOAD_BYTES]] {
            let message = Message::new([3; 16], u64::MAX, -5, 1 << 40, 4_194_304, payload);
            assert_eq!(message.payload(), &payload[..payload.len().min(PAYLOAD_BYTES)]);
            let (bytes, length) = message.to_bytes();
            assert_eq!(Message::from_bytes(&bytes[..length]), Some(message));
        }
    }

    #[test]
    fn too_few_bytes_are_no_message() {
        let (bytes, _) = Message::new([3; 16], 1, 2, 3, 4, &[]).to_bytes();
        for length in 0..HEADER_BYTES {
            assert_eq!(Message::from_bytes(&bytes[..length]), None);
        }
    }
}
