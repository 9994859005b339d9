//! A chunk: the records of messages that become one chunk of an MCAP file.
//!
//! Records of small messages are copied into one buffer. The data of a large message stays in its publisher's memory or
//! in a separate buffer; only the start of its record is in the common buffer. So a chunk is a list of parts.
//!
//! Padding before a large message gives its offset the remainder of its address, so that the disk can read its pages in
//! place (`direct_parts`).

use super::encode::{self, HEADER_BYTES};
use gantry::GenericSample;
use mcap::{Channel, records::MessageHeader};
use rustix::param::page_size;
use std::{collections::BTreeMap, ops::Range, sync::Arc};

/// The smallest message that gets padding, in bytes. The padding has half a page on average.
const MIN_PADDED_BYTES: usize = 256 << 10;

/// The data of a message.
#[derive(Debug)]
pub enum Body<'a> {
    /// Data that is copied into the chunk: the encapsulation header, which may be empty, and the bytes after it.
    Copied(&'a [u8], &'a [u8]),
    /// A sample that stays in its publisher's memory. The chunk adds the encapsulation header before it.
    Pinned(GenericSample),
}

/// The messages of one chunk.
#[derive(Debug, Default)]
pub struct Chunk {
    buffer: Vec<u8>,
    /// The parts of the chunk in order. They cover the bytes of the buffer up to `flushed`.
    parts: Vec<Part>,
    /// The number of bytes of the buffer that `parts` already covers.
    flushed: usize,
    bytes: u64,
    messages: u64,
    pins: usize,
    /// The size of the pinned samples that have padding, in bytes.
    padded_bytes: u64,
    times: Option<(u64, u64)>,
    channels: BTreeMap<u16, OfChannel>,
}

/// The messages of a channel in a chunk.
#[derive(Debug)]
pub struct OfChannel {
    /// The channel.
    pub channel: Arc<Channel<'static>>,
    /// For each message, its time and the offset of its record in the chunk.
    pub entries: Vec<(u64, u64)>,
    /// The total size of the messages' data, in bytes.
    pub bytes: u64,
}

#[derive(Debug)]
enum Part {
    InBuffer(Range<usize>),
    Pinned(GenericSample),
    Owned(Vec<u8>),
}

impl Chunk {
    /// Makes a chunk whose buffer has this capacity.
    #[must_use]
    pub fn with_capacity(bytes: usize) -> Chunk {
        Chunk { buffer: Vec::with_capacity(bytes), ..Chunk::default() }
    }

    /// Adds a message. The channel id in `header` is replaced by the id of `channel`.
    pub fn push(&mut self, channel: &Arc<Channel<'static>>, mut header: MessageHeader, body: Body<'_>) {
        header.channel_id = channel.id;
        if let Body::Pinned(sample) = &body
            && sample.bytes().len() >= MIN_PADDED_BYTES
        {
            let data_at = self.bytes + (HEADER_BYTES + gantry::ENCAPSULATION.len()) as u64;
            let (address, buffered) = (sample.bytes().as_ptr().addr() as u64, self.buffer.len());
            encode::padding(&mut self.buffer, data_at, address, page_size() as u64);
            self.bytes += (self.buffer.len() - buffered) as u64;
            self.padded_bytes += sample.bytes().len() as u64;
        }
        let of_channel = self.channels.entry(channel.id);
        let of_channel =
            of_channel.or_insert_with(|| OfChannel { channel: channel.clone(), entries: Vec::new(), bytes: 0 });
        of_channel.entries.push((header.log_time, self.bytes));
        let data_bytes = match &body {
            Body::Copied(start, bytes) => start.len() + bytes.len(),
            Body::Pinned(sample) => gantry::ENCAPSULATION.len() + sample.bytes().len(),
        };
        of_channel.bytes += data_bytes as u64;
        let (first, last) = self.times.unwrap_or((header.log_time, header.log_time));
        self.times = Some((first.min(header.log_time), last.max(header.log_time)));
        self.messages += 1;
        encode::message_start(&mut self.buffer, &header, data_bytes);
        match body {
            Body::Copied(start, bytes) => {
                self.buffer.extend_from_slice(start);
                self.buffer.extend_from_slice(bytes);
            }
            Body::Pinned(sample) => {
                self.buffer.extend_from_slice(&gantry::ENCAPSULATION);
                self.parts.push(Part::InBuffer(self.flushed..self.buffer.len()));
                self.flushed = self.buffer.len();
                self.parts.push(Part::Pinned(sample));
                self.pins += 1;
            }
        }
        self.bytes += (HEADER_BYTES + data_bytes) as u64;
    }

    /// Copies the pinned samples into separate buffers, and releases their pins.
    pub fn release_pins(&mut self) {
        for part in &mut self.parts {
            if let Part::Pinned(sample) = part {
                let mut copy = Vec::new();
                sample.copy_into(&mut copy);
                *part = Part::Owned(copy);
            }
        }
        (self.pins, self.padded_bytes) = (0, 0);
    }

    /// The number of samples in the chunk that are pinned.
    #[must_use]
    pub fn pins(&self) -> usize {
        self.pins
    }

    /// The total length of the records, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The size of the data that can be written from its publishers' memory, if the records begin at a multiple of the
    /// page size, in bytes.
    #[must_use]
    pub fn padded_bytes(&self) -> u64 {
        self.padded_bytes
    }

    /// The number of messages.
    #[must_use]
    pub fn messages(&self) -> u64 {
        self.messages
    }

    /// The times of the earliest and the latest message; `None` if the chunk has no messages.
    #[must_use]
    pub fn times(&self) -> Option<(u64, u64)> {
        self.times
    }

    /// The messages by channel.
    pub fn channels(&self) -> impl Iterator<Item = &OfChannel> {
        self.channels.values()
    }

    /// The records as a list of parts.
    pub fn parts(&self) -> impl Iterator<Item = &[u8]> {
        let parts = self.parts.iter().map(|part| match part {
            Part::InBuffer(range) => &self.buffer[range.clone()],
            Part::Pinned(sample) => sample.bytes(),
            Part::Owned(bytes) => bytes,
        });
        parts.chain([&self.buffer[self.flushed..]]).filter(|part| !part.is_empty())
    }
}
