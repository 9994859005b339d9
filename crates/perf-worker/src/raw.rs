//! The layout of messages without a type (`--raw`): the time and the id of the message, little-endian, followed by the
//! payload.

use crate::stamp::{Stamp, Stamped};

/// The length of time and id together, bytes.
pub const RAW_HEADER_BYTES: usize = 16;

/// Writes time and id to the beginning of a message. A message that is too short is left unchanged. Does not allocate.
pub fn write_stamp(message: &mut [u8], stamp: Stamp) {
    if let Some((header, _)) = message.split_first_chunk_mut::<RAW_HEADER_BYTES>() {
        let (time, id) = header.split_at_mut(8);
        time.copy_from_slice(&stamp.time_ns.to_le_bytes());
        id.copy_from_slice(&stamp.id.to_le_bytes());
    }
}

/// The time and the id of a message; `None` if the message is too short for them. Does not allocate.
#[must_use]
pub fn read_stamp(message: &[u8]) -> Option<Stamped> {
    let (time, rest) = message.split_first_chunk::<8>()?;
    let (id, _) = rest.split_first_chunk::<8>()?;
    Some(Stamped { time_ns: i64::from_le_bytes(*time), id: u64::from_le_bytes(*id) })
}

/// The bytes of a message after the time and the id.
#[must_use]
pub fn payload(message: &[u8]) -> &[u8] {
    message.get(RAW_HEADER_BYTES..).unwrap_or_default()
}

/// The bytes of a message after the time and the id, writable.
#[must_use]
pub fn payload_mut(message: &mut [u8]) -> &mut [u8] {
    message.get_mut(RAW_HEADER_BYTES..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_and_id_are_little_endian_and_the_payload_follows() {
        let mut message = [9; 18];
        write_stamp(&mut message, Stamp { time_ns: 0x0102, id: 0x0304, rate_hz: 7 });
        assert_eq!(message, [2, 1, 0, 0, 0, 0, 0, 0, 4, 3, 0, 0, 0, 0, 0, 0, 9, 9]);
        payload_mut(&mut message).fill(1);
        assert_eq!(
            (read_stamp(&message), payload(&message)),
            (Some(Stamped { time_ns: 0x0102, id: 0x0304 }), &[1, 1][..])
        );
        write_stamp(&mut message, Stamp { time_ns: -5, id: u64::MAX, rate_hz: 0 });
        assert_eq!(read_stamp(&message), Some(Stamped { time_ns: -5, id: u64::MAX }));
    }

    #[test]
    fn a_message_that_is_too_short_has_no_stamp() {
        let mut message = [9; 15];
        write_stamp(&mut message, Stamp { time_ns: 1, id: 1, rate_hz: 1 });
        assert_eq!((message, read_stamp(&message)), ([9; 15], None));
        assert!(payload(&message).is_empty() && payload_mut(&mut message).is_empty());
    }
}
