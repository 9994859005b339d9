//! The message: 256 bytes, which every carrier writes in place and reads in place.

use gantry::PlainMessage;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

const WORDS: usize = 32;

/// A message. Every word except the second one has the message's number.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Message {
    number: u64,
    sent: u64,
    rest: [u64; WORDS - 2],
}

impl PlainMessage for Message {
    const TYPE_NAME: &'static str = "realtime_bench/msg/Bytes256";
    const DEFINITION: &'static str = "uint64 number\nuint64 sent\nuint64[30] rest\n";
}

impl Message {
    /// Makes a message. The function is inlined, so that the message is built in place.
    #[inline(always)]
    pub fn new(number: u64, sent: u64) -> Message {
        Message { number, sent, rest: [number; WORDS - 2] }
    }

    /// Reads every word. Returns the number and the time of sending if all words agree.
    #[inline(always)]
    pub fn read(&self) -> Option<(u64, u64)> {
        let different = self.rest.iter().fold(0, |different, word| different | (word ^ self.number));
        (different == 0).then_some((self.number, self.sent))
    }
}
