//! The framing of DDS-XRCE for TCP: the length of a message (16 bits, little endian), then the message.

use super::TooLong;

/// The prefix of a message of this length.
///
/// # Errors
/// [`TooLong`] above 65535 bytes.
pub fn length_prefix(message_bytes: usize) -> Result<[u8; 2], TooLong> {
    match u16::try_from(message_bytes) {
        Ok(length) => Ok(length.to_le_bytes()),
        Err(_) => Err(TooLong { bytes: message_bytes, max_bytes: usize::from(u16::MAX) }),
    }
}

/// A decoder that finds messages in the bytes of a TCP connection.
///
/// Empty messages are skipped, as in eProsima's client and agent. The counters wrap around at their maximum.
#[derive(Clone, Debug, Default)]
pub struct LengthPrefixDecoder {
    length: u16,
    /// The number of received bytes of the current message, including the two bytes of its length.
    position: u32,
    too_long: u32,
    dropped_bytes: u32,
}

impl LengthPrefixDecoder {
    /// Makes a decoder for a new connection.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of messages that were longer than the buffer and were skipped.
    pub fn too_long(&self) -> u32 {
        self.too_long
    }

    /// The number of bytes in the messages that were skipped because they were longer than the buffer.
    pub fn dropped_bytes(&self) -> u32 {
        self.dropped_bytes
    }

    /// Reads `bytes` until a message is complete or no byte is left. Unread bytes stay in `bytes`. Pass the same
    /// `buffer` in each call; the returned message is a slice at the start of `buffer`.
    pub fn decode<'b>(&mut self, bytes: &mut &[u8], buffer: &'b mut [u8]) -> Option<&'b [u8]> {
        while let Some((&first, after_first)) = bytes.split_first() {
            if self.position < 2 {
                *bytes = after_first;
                self.length = self.length >> 8 | u16::from(first) << 8;
                self.position += 1;
                if self.position == 2 && self.length == 0 {
                    self.position = 0;
                }
                continue;
            }
            let received = (self.position - 2) as usize;
            let length = usize::from(self.length);
            let (chunk, rest) = bytes.split_at(bytes.len().min(length - received));
            *bytes = rest;
            self.position += chunk.len() as u32;
            let fits = length <= buffer.len();
            if let Some(place) = buffer.get_mut(received..received + chunk.len())
                && fits
            {
                place.copy_from_slice(chunk);
            }
            if received + chunk.len() < length {
                continue;
            }
            self.position = 0;
            if fits {
                return buffer.get(..length);
            }
            self.too_long = self.too_long.wrapping_add(1);
            self.dropped_bytes = self.dropped_bytes.wrapping_add(u32::from(self.length));
        }
        None
    }
}
