//! The part of a payload that a sender writes and a reader reads. It is the same for every message type.
//!
//! *Whole*: one side writes every byte and the other side reads every byte, as a camera and a viewer do. *Stamped*:
//! both sides write and read only the first eight bytes, so that the cost of the message itself remains.

/// The bytes of a payload that are written and read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// Every byte.
    Whole,
    /// The first eight bytes.
    Stamped,
}

const WORD_BYTES: usize = 8;

impl Touch {
    /// The name of the touched part of a payload, on the command line of the other process and in the table.
    pub fn name(self) -> &'static str {
        match self {
            Touch::Whole => "whole",
            Touch::Stamped => "stamped",
        }
    }

    /// Writes `value` into a payload. The function is not inlined, so that the same instructions write every message.
    #[inline(never)]
    pub fn write(self, payload: &mut [u8], value: u8) {
        let part = self.part_bytes(payload);
        payload[..part].fill(value);
    }

    /// Reads a payload and returns its value; `None` if its words differ. The function is not inlined, so that the same
    /// instructions read every message.
    #[inline(never)]
    pub fn read(self, payload: &[u8]) -> Option<u8> {
        let (words, rest) = payload[..self.part_bytes(payload)].as_chunks::<WORD_BYTES>();
        let first = words.first().map_or(0, |word| word[0]);
        let expected = u64::from_ne_bytes([first; WORD_BYTES]);
        let different = words.iter().fold(0, |different, word| different | (u64::from_ne_bytes(*word) ^ expected));
        (different == 0 && rest.iter().all(|byte| *byte == first)).then_some(first)
    }

    fn part_bytes(self, payload: &[u8]) -> usize {
        match self {
            Touch::Whole => payload.len(),
            Touch::Stamped => WORD_BYTES,
        }
    }
}
