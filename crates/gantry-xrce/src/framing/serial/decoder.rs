//! The decoder of the serial framing, which finds frames in the bytes of a serial line.

use super::{ESCAPE, FLAG, STUFFING};
use crate::framing::crc;

/// A frame that was received completely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SerialFrame<'a> {
    /// The address of the sender.
    pub source: u8,
    /// The message.
    pub message: &'a [u8],
}

/// Counts of what a decoder received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SerialCounters {
    /// Frames that were delivered.
    pub frames: u32,
    /// The number of bytes in the delivered frames, including stuffing.
    pub frame_bytes: u32,
    /// The number of dropped bytes: noise, and the bytes of the frames that the counters below count.
    pub dropped_bytes: u32,
    /// Frames whose checksum is wrong.
    pub crc_errors: u32,
    /// The number of frames that lost their end, so that the next frame began before they were complete.
    pub incomplete: u32,
    /// The number of frames that are longer than the buffer.
    pub too_long: u32,
    /// The number of frames for another address.
    pub for_others: u32,
}

/// A decoder that finds frames in the bytes of a serial line.
///
/// Frames may have any length, but only frames that fit in the buffer are delivered. Counters wrap around.
#[derive(Clone, Debug)]
pub struct SerialDecoder {
    address: u8,
    state: State,
    escape: bool,
    source: u8,
    length: u16,
    /// The number of received bytes of the current message.
    received: u16,
    crc: u16,
    received_crc: u8,
    /// The number of received bytes of the current frame, including stuffing.
    frame_bytes: u32,
    counters: SerialCounters,
}

/// The meaning of the next byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Waits for the flag that begins a frame. Any other byte is noise.
    Flag,
    Source,
    Destination,
    LengthLow,
    LengthHigh,
    Message,
    CrcLow,
    CrcHigh,
}

impl SerialDecoder {
    /// Makes a decoder that delivers frames for `address`.
    pub fn new(address: u8) -> Self {
        Self {
            address,
            state: State::Flag,
            escape: false,
            source: 0,
            length: 0,
            received: 0,
            crc: 0,
            received_crc: 0,
            frame_bytes: 0,
            counters: SerialCounters::default(),
        }
    }

    /// The counters of the bytes that were received until now.
    pub fn counters(&self) -> SerialCounters {
        self.counters
    }

    /// The number of bytes of the frame that is being received: they are neither delivered nor dropped yet.
    pub fn pending_bytes(&self) -> u32 {
        self.frame_bytes
    }

    /// Reads `bytes` until a frame is complete or no byte is left. Unread bytes stay in `bytes`. Pass the same `buffer`
    /// in each call; the message of the returned frame is a slice at the start of `buffer`.
    ///
    /// ```
    /// use gantry_xrce::framing::{SerialDecoder, SerialEncoder};
    ///
    /// let mut chunk = [0; 42];
    /// let mut encoder = SerialEncoder::new(SerialEncoder::CLIENT, SerialEncoder::AGENT, 5)?;
    /// let length = encoder.encode(b"hello", &mut chunk);
    ///
    /// let mut decoder = SerialDecoder::new(SerialEncoder::AGENT);
    /// let mut buffer = [0; 512];
    /// let mut bytes = &chunk[..length];
    /// while let Some(frame) = decoder.decode(&mut bytes, &mut buffer) {
    ///     assert_eq!((frame.source, frame.message), (SerialEncoder::CLIENT, &b"hello"[..]));
    /// }
    /// assert_eq!(decoder.counters().frames, 1);
    /// # Ok::<(), gantry_xrce::framing::TooLong>(())
    /// ```
    pub fn decode<'b>(&mut self, bytes: &mut &[u8], buffer: &'b mut [u8]) -> Option<SerialFrame<'b>> {
        while let Some((&byte, rest)) = bytes.split_first() {
            *bytes = rest;
            if self.put(byte, buffer) {
                let message = buffer.get(..usize::from(self.length))?;
                return Some(SerialFrame { source: self.source, message });
            }
        }
        None
    }

    /// Takes one byte. Returns true if the byte completes a frame for this address. The function is not inlined, to
    /// save code: in the code of a larger struct, each access to a field of the decoder would need a longer
    /// instruction.
    #[inline(never)]
    fn put(&mut self, byte: u8, buffer: &mut [u8]) -> bool {
        if byte == FLAG {
            if self.state != State::Flag {
                self.drop_frame();
                self.counters.incomplete = self.counters.incomplete.wrapping_add(1);
            }
            self.frame_bytes = 1;
            self.escape = false;
            self.state = State::Source;
            return false;
        }
        if self.state == State::Flag {
            self.counters.dropped_bytes = self.counters.dropped_bytes.wrapping_add(1);
            return false;
        }
        self.frame_bytes = self.frame_bytes.wrapping_add(1);
        if byte == ESCAPE && !self.escape {
            self.escape = true;
            return false;
        }
        let byte = if self.escape { byte ^ STUFFING } else { byte };
        self.escape = false;
        self.advance(byte, buffer)
    }

    /// Takes one byte after the flag, with its stuffing removed.
    fn advance(&mut self, byte: u8, buffer: &mut [u8]) -> bool {
        self.state = match self.state {
            State::Flag => State::Flag,
            State::Source => {
                self.source = byte;
                State::Destination
            }
            State::Destination if byte != self.address => {
                self.counters.for_others = self.counters.for_others.wrapping_add(1);
                return self.drop_frame();
            }
            State::Destination => State::LengthLow,
            State::LengthLow => {
                self.length = u16::from(byte);
                State::LengthHigh
            }
            State::LengthHigh => {
                self.length |= u16::from(byte) << 8;
                if usize::from(self.length) > buffer.len() {
                    self.counters.too_long = self.counters.too_long.wrapping_add(1);
                    return self.drop_frame();
                }
                self.received = 0;
                self.crc = 0;
                if self.length == 0 { State::CrcLow } else { State::Message }
            }
            State::Message => {
                if let Some(place) = buffer.get_mut(usize::from(self.received)) {
                    *place = byte;
                }
                self.crc = crc::update(self.crc, byte);
                self.received += 1;
                if self.received == self.length { State::CrcLow } else { State::Message }
            }
            State::CrcLow => {
                self.received_crc = byte;
                State::CrcHigh
            }
            State::CrcHigh => return self.end(byte),
        };
        false
    }

    /// Ends a frame: compares the received checksum with the computed one.
    fn end(&mut self, crc_high: u8) -> bool {
        if u16::from_le_bytes([self.received_crc, crc_high]) != self.crc {
            self.counters.crc_errors = self.counters.crc_errors.wrapping_add(1);
            return self.drop_frame();
        }
        self.counters.frames = self.counters.frames.wrapping_add(1);
        self.counters.frame_bytes = self.counters.frame_bytes.wrapping_add(self.frame_bytes);
        self.frame_bytes = 0;
        self.state = State::Flag;
        true
    }

    /// Drops the received part of a frame. Always returns `false`: no frame is complete.
    fn drop_frame(&mut self) -> bool {
        self.counters.dropped_bytes = self.counters.dropped_bytes.wrapping_add(self.frame_bytes);
        self.frame_bytes = 0;
        self.state = State::Flag;
        false
    }
}
