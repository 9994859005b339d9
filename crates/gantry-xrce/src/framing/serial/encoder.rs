//! The encoder of the serial framing.

use super::{ESCAPE, FLAG, STUFFING};
use crate::framing::{TooLong, crc};

/// The bytes of the two addresses and of the length.
const HEADER_BYTES: u32 = 4;

/// An encoder that writes one frame in chunks of any size.
#[derive(Clone, Debug)]
pub struct SerialEncoder {
    source: u8,
    destination: u8,
    length: u16,
    crc: u16,
    /// The number of bytes that were written, not counting stuffing.
    position: u32,
    /// The second byte of an escape sequence, if the chunk was full after the first byte.
    escaped: Option<u8>,
}

impl SerialEncoder {
    /// The address of the agent.
    pub const AGENT: u8 = 0;
    /// The address that eProsima's clients use.
    pub const CLIENT: u8 = 1;

    /// Makes an encoder for a frame from `source` to `destination` with a message of `message_bytes` bytes.
    ///
    /// # Errors
    /// [`TooLong`] above 65535 bytes.
    pub fn new(source: u8, destination: u8, message_bytes: usize) -> Result<Self, TooLong> {
        let max_bytes = usize::from(u16::MAX);
        let length = u16::try_from(message_bytes).map_err(|_| TooLong { bytes: message_bytes, max_bytes })?;
        Ok(Self { source, destination, length, crc: 0, position: 0, escaped: None })
    }

    /// Writes the next bytes of the frame into `chunk`, and returns their number. The number is less than the length of
    /// `chunk` only if the frame ends; after its end, the number is 0. Pass the same `message` in each call.
    pub fn encode(&mut self, message: &[u8], chunk: &mut [u8]) -> usize {
        let mut written = 0;
        for byte in chunk {
            let Some(next) = self.next(message) else { break };
            *byte = next;
            written += 1;
        }
        written
    }

    fn next(&mut self, message: &[u8]) -> Option<u8> {
        if let Some(byte) = self.escaped.take() {
            return Some(byte);
        }
        let [length_low, length_high] = self.length.to_le_bytes();
        let byte = match self.position {
            0 => {
                self.position = 1;
                return Some(FLAG);
            }
            1 => self.source,
            2 => self.destination,
            3 => length_low,
            4 => length_high,
            after_flag => {
                let index = after_flag - 1 - HEADER_BYTES;
                match index.checked_sub(self.length.into()) {
                    None => {
                        // A message that is shorter than its announced length is padded with zeros, so that the decoder
                        // finds the frame's end.
                        let byte = message.get(index as usize).copied().unwrap_or(0);
                        self.crc = crc::update(self.crc, byte);
                        byte
                    }
                    Some(after_message @ 0..2) => self.crc.to_le_bytes()[after_message as usize],
                    Some(_) => return None,
                }
            }
        };
        self.position += 1;
        if matches!(byte, FLAG | ESCAPE) {
            self.escaped = Some(byte ^ STUFFING);
            return Some(ESCAPE);
        }
        Some(byte)
    }
}
