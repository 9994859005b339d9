//! Encodes the records of MCAP as bytes: little-endian numbers, and texts and maps after their lengths.
//!
//! <https://mcap.dev/spec> defines the formats; `mcap::records::op` has the opcodes. A CRC of 0 means that the record
//! has none.

use mcap::{
    Channel, Schema,
    records::{ChunkIndex, Footer, MessageHeader, Metadata, MetadataIndex, Statistics, op},
};
use std::collections::BTreeMap;

/// The length of the opcode and the length field of a record.
pub const RECORD_START_BYTES: usize = 9;
/// The opcode of padding. MCAP reserves the opcodes from 0x80 on for applications, and readers skip records whose
/// opcode they do not know.
const PADDING: u8 = 0x80;
/// The length of a message record without its data.
pub const HEADER_BYTES: usize = RECORD_START_BYTES + 2 + 4 + 8 + 8;

/// Appends a record. `write` appends the content of the record.
pub fn record(out: &mut Vec<u8>, opcode: u8, write: impl FnOnce(&mut Vec<u8>)) {
    out.push(opcode);
    let length_at = out.len();
    out.extend([0; 8]);
    write(out);
    let length = (out.len() - length_at - 8) as u64;
    out[length_at..length_at + 8].copy_from_slice(&length.to_le_bytes());
}

/// Appends a record without meaning, if one is needed so that `offset` plus its length has the remainder `remainder`
/// when divided by `alignment`, a power of two.
pub fn padding(out: &mut Vec<u8>, offset: u64, remainder: u64, alignment: u64) {
    let needed = remainder.wrapping_sub(offset) % alignment;
    let start_bytes = RECORD_START_BYTES as u64;
    let bytes = match needed {
        0 => return,
        _ if needed < start_bytes => needed + start_bytes.next_multiple_of(alignment),
        _ => needed,
    };
    record(out, PADDING, |out| out.resize(out.len() + (bytes - start_bytes) as usize, 0));
}

fn text(out: &mut Vec<u8>, text: &str) {
    sized(out, |out| out.extend(text.as_bytes()));
}

/// Appends a length field, and then the bytes that `write` appends. The length counts these bytes.
fn sized(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let length_at = out.len();
    out.extend([0; 4]);
    write(out);
    let length = u32::try_from(out.len() - length_at - 4).unwrap_or(u32::MAX);
    out[length_at..length_at + 4].copy_from_slice(&length.to_le_bytes());
}

fn texts(out: &mut Vec<u8>, map: &BTreeMap<String, String>) {
    sized(out, |out| {
        for (key, value) in map {
            text(out, key);
            text(out, value);
        }
    });
}

/// Appends 64-bit numbers.
fn numbers<const N: usize>(out: &mut Vec<u8>, numbers: [u64; N]) {
    numbers.iter().for_each(|number| out.extend(number.to_le_bytes()));
}

pub fn header(out: &mut Vec<u8>, profile: &str, library: &str) {
    record(out, op::HEADER, |out| {
        text(out, profile);
        text(out, library);
    });
}

pub fn schema(out: &mut Vec<u8>, schema: &Schema<'_>) {
    record(out, op::SCHEMA, |out| {
        out.extend(schema.id.to_le_bytes());
        text(out, &schema.name);
        text(out, &schema.encoding);
        sized(out, |out| out.extend(&*schema.data));
    });
}

pub fn channel(out: &mut Vec<u8>, channel: &Channel<'_>) {
    record(out, op::CHANNEL, |out| {
        out.extend(channel.id.to_le_bytes());
        out.extend(channel.schema.as_ref().map_or(0, |schema| schema.id).to_le_bytes());
        text(out, &channel.topic);
        text(out, &channel.message_encoding);
        texts(out, &channel.metadata);
    });
}

/// Appends the start of a message record, for a message with `data_bytes` bytes of data.
pub fn message_start(out: &mut Vec<u8>, header: &MessageHeader, data_bytes: usize) {
    out.push(op::MESSAGE);
    numbers(out, [(data_bytes + HEADER_BYTES - RECORD_START_BYTES) as u64]);
    out.extend(header.channel_id.to_le_bytes());
    out.extend(header.sequence.to_le_bytes());
    numbers(out, [header.log_time, header.publish_time]);
}

/// The fields of a chunk record before its records.
#[derive(Clone, Copy, Debug)]
pub struct ChunkStart {
    pub first_ns: u64,
    pub last_ns: u64,
    pub uncompressed_bytes: u64,
    pub uncompressed_crc: u32,
    pub compression: &'static str,
    pub compressed_bytes: u64,
}

impl ChunkStart {
    /// The length of the whole chunk record, in bytes.
    pub fn record_bytes(&self) -> u64 {
        self.start_bytes() as u64 + self.compressed_bytes
    }

    /// The number of bytes of the chunk record before its compressed records.
    pub fn start_bytes(&self) -> usize {
        RECORD_START_BYTES + 8 + 8 + 8 + 4 + 4 + self.compression.len() + 8
    }

    pub fn write(&self, out: &mut Vec<u8>) {
        out.push(op::CHUNK);
        numbers(out, [self.record_bytes() - RECORD_START_BYTES as u64]);
        numbers(out, [self.first_ns, self.last_ns, self.uncompressed_bytes]);
        out.extend(self.uncompressed_crc.to_le_bytes());
        text(out, self.compression);
        numbers(out, [self.compressed_bytes]);
    }
}

/// Appends the message index of a channel: the time of each message and its offset in the chunk.
pub fn message_index(out: &mut Vec<u8>, channel_id: u16, entries: &[(u64, u64)]) {
    record(out, op::MESSAGE_INDEX, |out| {
        out.extend(channel_id.to_le_bytes());
        sized(out, |out| entries.iter().for_each(|(time, offset)| numbers(out, [*time, *offset])));
    });
}

pub fn chunk_index(out: &mut Vec<u8>, index: &ChunkIndex) {
    record(out, op::CHUNK_INDEX, |out| {
        let (first, last) = (index.message_start_time, index.message_end_time);
        numbers(out, [first, last, index.chunk_start_offset, index.chunk_length]);
        sized(out, |out| {
            for (channel, offset) in &index.message_index_offsets {
                out.extend(channel.to_le_bytes());
                numbers(out, [*offset]);
            }
        });
        numbers(out, [index.message_index_length]);
        text(out, &index.compression);
        numbers(out, [index.compressed_size, index.uncompressed_size]);
    });
}

pub fn metadata(out: &mut Vec<u8>, metadata: &Metadata) {
    record(out, op::METADATA, |out| {
        text(out, &metadata.name);
        texts(out, &metadata.metadata);
    });
}

pub fn metadata_index(out: &mut Vec<u8>, index: &MetadataIndex) {
    record(out, op::METADATA_INDEX, |out| {
        numbers(out, [index.offset, index.length]);
        text(out, &index.name);
    });
}

pub fn statistics(out: &mut Vec<u8>, of_file: &Statistics) {
    record(out, op::STATISTICS, |out| {
        numbers(out, [of_file.message_count]);
        out.extend(of_file.schema_count.to_le_bytes());
        for count in [of_file.channel_count, of_file.attachment_count, of_file.metadata_count, of_file.chunk_count] {
            out.extend(count.to_le_bytes());
        }
        numbers(out, [of_file.message_start_time, of_file.message_end_time]);
        sized(out, |out| {
            for (channel, count) in &of_file.channel_message_counts {
                out.extend(channel.to_le_bytes());
                numbers(out, [*count]);
            }
        });
    });
}

pub fn summary_offset(out: &mut Vec<u8>, opcode: u8, start: u64, length: u64) {
    record(out, op::SUMMARY_OFFSET, |out| {
        out.push(opcode);
        numbers(out, [start, length]);
    });
}

pub fn data_end(out: &mut Vec<u8>) {
    record(out, op::DATA_END, |out| out.extend(0u32.to_le_bytes()));
}

pub fn footer(out: &mut Vec<u8>, footer: Footer) {
    record(out, op::FOOTER, |out| {
        numbers(out, [footer.summary_start, footer.summary_offset_start]);
        out.extend(footer.summary_crc.to_le_bytes());
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_a_record_that_ends_at_the_remainder() {
        for offset in 0..600u64 {
            for remainder in [0, 3, 255, 256 * 7 + 64] {
                let mut out = Vec::new();
                padding(&mut out, offset, remainder, 256);
                assert_eq!((offset + out.len() as u64) % 256, remainder % 256);
                if let Some((start, content)) = out.split_at_checked(RECORD_START_BYTES) {
                    assert_eq!((start[0], &start[1..]), (PADDING, &(content.len() as u64).to_le_bytes()[..]));
                } else {
                    assert!(out.is_empty());
                }
            }
        }
    }
}
