//! The summary at the end of an MCAP file: the channels, chunks and metadata records of the file, and their counts.

use super::{Chunk, Packed, encode};
use mcap::{
    Channel, MAGIC,
    records::{ChunkIndex, Footer, MetadataIndex, Statistics, op},
};
use std::{collections::BTreeMap, sync::Arc};

/// The length of a channel's count in the statistics, in bytes.
pub const COUNT_BYTES: usize = 10;

/// The parts of the summary.
#[derive(Debug, Default)]
pub struct Summary {
    channels: BTreeMap<u16, Arc<Channel<'static>>>,
    chunks: Vec<ChunkIndex>,
    metadata: Vec<MetadataIndex>,
    statistics: Statistics,
}

impl Summary {
    /// The records of the schemas and channels of a chunk that the file does not have yet, and these channels.
    pub fn descriptions(&self, chunk: &Chunk) -> (Vec<u8>, Vec<Arc<Channel<'static>>>) {
        let mut records = Vec::new();
        let mut new: Vec<Arc<Channel<'static>>> = Vec::new();
        for of_channel in chunk.channels() {
            let channel = &of_channel.channel;
            if self.channels.contains_key(&channel.id) {
                continue;
            }
            let has_schema = |other: &Arc<Channel<'static>>| schema_id(other) == schema_id(channel);
            if let Some(schema) = &channel.schema
                && !self.channels.values().chain(&new).any(has_schema)
            {
                encode::schema(&mut records, schema);
            }
            encode::channel(&mut records, channel);
            new.push(channel.clone());
        }
        (records, new)
    }

    /// Adds a chunk that the file has now, with its new channels.
    pub fn add_chunk(&mut self, index: ChunkIndex, packed: &Packed, new: Vec<Arc<Channel<'static>>>) {
        self.chunks.push(index);
        self.channels.extend(new.into_iter().map(|channel| (channel.id, channel)));
        self.count(packed);
    }

    /// Adds a metadata record that the file has now.
    pub fn add_metadata(&mut self, index: MetadataIndex) {
        self.metadata.push(index);
    }

    /// The statistics of the file so far.
    #[must_use]
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    fn count(&mut self, packed: &Packed) {
        let (chunk, statistics) = (packed.chunk(), &mut self.statistics);
        let Some((first, last)) = chunk.times() else { return };
        let is_first = statistics.message_count == 0;
        statistics.message_start_time = if is_first { first } else { statistics.message_start_time.min(first) };
        statistics.message_end_time = statistics.message_end_time.max(last);
        statistics.message_count += chunk.messages();
        statistics.chunk_count += 1;
        for of_channel in chunk.channels() {
            let count = statistics.channel_message_counts.entry(of_channel.channel.id).or_default();
            *count += of_channel.entries.len() as u64;
        }
    }

    /// The bytes that complete a file of `file_bytes` bytes.
    #[must_use]
    pub fn end(mut self, file_bytes: u64) -> Vec<u8> {
        let mut end = Vec::new();
        encode::data_end(&mut end);
        let summary_start = file_bytes + end.len() as u64;
        let schemas: BTreeMap<u16, _> =
            self.channels.values().filter_map(|channel| Some((schema_id(channel)?, channel.schema.clone()?))).collect();
        self.statistics.schema_count = schemas.len() as u16;
        self.statistics.channel_count = self.channels.len() as u32;
        self.statistics.metadata_count = self.metadata.len() as u32;
        let mut groups = Vec::new();
        let mut group = |end: &mut Vec<u8>, opcode: u8, write: &dyn Fn(&mut Vec<u8>)| {
            let start = end.len();
            write(end);
            if end.len() > start {
                groups.push((opcode, start, end.len() - start));
            }
        };
        group(&mut end, op::SCHEMA, &|end| schemas.values().for_each(|schema| encode::schema(end, schema)));
        group(&mut end, op::CHANNEL, &|end| {
            self.channels.values().for_each(|channel| encode::channel(end, channel));
        });
        group(&mut end, op::STATISTICS, &|end| encode::statistics(end, &self.statistics));
        group(&mut end, op::CHUNK_INDEX, &|end| {
            self.chunks.iter().for_each(|index| encode::chunk_index(end, index));
        });
        group(&mut end, op::METADATA_INDEX, &|end| {
            self.metadata.iter().for_each(|index| encode::metadata_index(end, index));
        });
        let summary_offset_start = file_bytes + end.len() as u64;
        for (opcode, start, length) in groups {
            encode::summary_offset(&mut end, opcode, file_bytes + start as u64, length as u64);
        }
        encode::footer(&mut end, Footer { summary_start, summary_offset_start, summary_crc: 0 });
        end.extend(MAGIC);
        end
    }
}

fn schema_id(channel: &Channel<'_>) -> Option<u16> {
    channel.schema.as_ref().map(|schema| schema.id)
}
