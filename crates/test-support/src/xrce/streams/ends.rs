//! The two ends of a reliable stream (output and input), with a check of the delivered messages.

use gantry_xrce::stream::{
    Acknowledgement, Delivery, Due, HEADER_BYTES, Record, Refused, ReliableInput, ReliableOutput, Sequence, Slots,
    Storage, ToSend,
};
use gantry_xrce::time::Instant;
use std::collections::VecDeque;

/// Memory on the heap for the messages of a stream.
pub struct HeapSlots {
    records: Box<[Record]>,
    bytes: Box<[u8]>,
}

impl HeapSlots {
    /// Allocates `count` slots of `capacity` bytes.
    #[must_use]
    pub fn new(count: usize, capacity: usize) -> Self {
        Self { records: vec![Record::EMPTY; count].into(), bytes: vec![0; count * capacity].into() }
    }
}

impl Storage for HeapSlots {
    fn slots(&mut self) -> Slots<'_> {
        Slots::new(&mut self.records, &mut self.bytes)
    }
}

/// A message, a heartbeat or an acknowledgement on the line between the two ends.
#[derive(Clone, Debug)]
pub enum Frame {
    /// A message of the stream.
    Message {
        /// The sequence number of the message.
        sequence: Sequence,
        /// The submessages of the message.
        body: Vec<u8>,
    },
    /// A heartbeat of the output.
    Heartbeat {
        /// The sequence number of the oldest message that the output keeps.
        first: Sequence,
        /// The sequence number of the newest message that the output has sent.
        last: Sequence,
    },
    /// An acknowledgement of the input.
    Acknowledgement(Acknowledgement),
}

impl Frame {
    /// The number of bytes of the frame in a UDP datagram.
    #[must_use]
    pub fn length(&self) -> usize {
        match self {
            Self::Message { body, .. } => 4 + body.len(),
            Self::Heartbeat { .. } | Self::Acknowledgement(_) => 13,
        }
    }
}

/// Makes a WRITE_DATA submessage of `4 + length` bytes, whose contents depend on `number`.
#[must_use]
pub fn message(number: u32, length: usize) -> Vec<u8> {
    let [low, high, ..] = length.to_le_bytes();
    let contents = number.to_le_bytes().into_iter().cycle().zip(0_u8..=255).map(|(byte, index)| byte ^ index).cycle();
    [7, 1, low, high].into_iter().chain(contents.take(length)).collect()
}

/// The output and the input of a stream, and the messages that were written but not delivered yet.
pub struct Ends {
    /// The output.
    pub output: ReliableOutput<HeapSlots>,
    /// The input.
    pub input: ReliableInput<HeapSlots, Vec<u8>>,
    expected: VecDeque<Vec<u8>>,
    delivered: usize,
    is_strict: bool,
}

impl Ends {
    /// Creates an output with `window` slots, and an input with `before_turn` slots for messages that arrive too early.
    /// A slot has room for a body of `capacity` bytes. The input also has a buffer of `buffer` bytes for fragments.
    #[must_use]
    pub fn new(window: usize, before_turn: usize, capacity: usize, buffer: usize) -> Self {
        Self {
            output: ReliableOutput::new(HeapSlots::new(window, HEADER_BYTES + capacity)),
            input: ReliableInput::new(HeapSlots::new(before_turn, capacity), vec![0; buffer]),
            expected: VecDeque::new(),
            delivered: 0,
            is_strict: true,
        }
    }

    /// Stops the comparison of delivered messages with written ones.
    pub fn expect_anything(&mut self) {
        self.is_strict = false;
    }

    /// Writes a submessage to the output. It has to arrive at the input.
    ///
    /// # Errors
    /// An error of the stream.
    pub fn write(&mut self, message: &[u8]) -> Result<(), Refused> {
        let (header, payload) = message.split_at(message.len().min(4));
        self.output.write(&[header, &[], payload])?;
        self.expected.push_back(message.to_vec());
        Ok(())
    }

    /// Returns the next frame that the output has to send.
    pub fn transmit(&mut self, now: Instant) -> Option<Frame> {
        Some(match self.output.next_to_send(now)? {
            ToSend::Message { sequence, message } => Frame::Message { sequence, body: message.body().to_vec() },
            ToSend::Heartbeat { first, last } => Frame::Heartbeat { first, last },
        })
    }

    /// Returns the acknowledgement of the input, if one is due.
    pub fn acknowledge(&mut self) -> Option<Frame> {
        (self.input.acknowledgement_due() > Due::No).then(|| Frame::Acknowledgement(self.input.acknowledgement()))
    }

    /// Passes a frame to its receiving end. Panics if a delivered message is not the next expected one.
    pub fn arrive(&mut self, frame: &Frame, now: Instant) {
        let Self { output, input, expected, delivered, is_strict } = self;
        let mut deliver = |delivery: Delivery<'_>| match delivery {
            Delivery::Submessages(mut bytes) if *is_strict => {
                while let Some(&[_, _, low, high]) = bytes.first_chunk() {
                    let end = 4 + usize::from(u16::from_le_bytes([low, high]));
                    let message = expected.pop_front().unwrap_or_else(|| panic!("more is delivered than was written"));
                    assert!(message == bytes[..end], "message {delivered} is not the one that was written");
                    *delivered += 1;
                    bytes = bytes.get(end.next_multiple_of(4)..).unwrap_or(&[]);
                }
            }
            other => assert!(!*is_strict, "{other:?}"),
        };
        match frame {
            Frame::Message { sequence, body } => drop(input.receive(*sequence, body, &mut deliver)),
            Frame::Heartbeat { first, last } => input.heartbeat(*first, *last, &mut deliver),
            Frame::Acknowledgement(acknowledgement) => drop(output.acknowledged(*acknowledgement, now)),
        }
    }

    /// The number of submessages that were delivered.
    #[must_use]
    pub fn delivered(&self) -> usize {
        self.delivered
    }

    /// True if all messages are delivered and acknowledged.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.expected.is_empty() && self.output.unacknowledged() == 0
    }
}
