//! The contents of a file that a scan has found. They replace the missing summary of the file.
//!
//! Messages outside of chunks are listed in this summary as uncompressed chunks. This works because the records of an
//! uncompressed chunk have the same format as records of the file.

use mcap::{
    Channel, Schema, Summary,
    records::{ChunkIndex, MessageHeader, MetadataIndex, Record, Statistics},
};
use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

/// The number of bytes of a record before its content.
pub const START_BYTES: u64 = 9;
/// The number of bytes of a chunk record before its uncompressed records.
pub const CHUNK_START_BYTES: u64 = START_BYTES + 8 + 8 + 8 + 4 + 4 + 8;
/// The largest allowed number of bytes of a chunk. A file that states a larger chunk is damaged.
pub const MAX_CHUNK_BYTES: u64 = 4 << 30;
/// The largest number of bytes of messages outside of chunks that the summary lists as one chunk.
const MAX_RUN_BYTES: u64 = 4 << 20;

/// A summary to which a scan adds one record after another.
#[derive(Debug, Default)]
pub struct Contents {
    summary: Summary,
    statistics: Statistics,
}

impl Contents {
    /// The summary, with its statistics.
    #[must_use]
    pub fn into_summary(self) -> Summary {
        Summary { stats: Some(self.statistics), ..self.summary }
    }

    /// Whether a record has described the channel.
    #[must_use]
    pub fn has_channel(&self, id: u16) -> bool {
        self.summary.channels.contains_key(&id)
    }

    /// Adds a chunk. The caller must have counted its messages.
    pub fn add_chunk(&mut self, chunk: ChunkIndex) {
        self.statistics.chunk_count += 1;
        self.summary.chunk_indexes.push(chunk);
    }

    /// Counts the messages of a chunk. `indexed` has the number of messages for each channel, taken from the message
    /// indexes after the chunk.
    pub fn count_indexed(&mut self, chunk: &ChunkIndex, indexed: BTreeMap<u16, u64>) {
        for (channel, count) in indexed {
            *self.statistics.channel_message_counts.entry(channel).or_default() += count;
            self.statistics.message_count += count;
        }
        self.cover(chunk.message_start_time, chunk.message_end_time);
    }

    /// Adds a record of metadata.
    pub fn add_metadata(&mut self, index: MetadataIndex) {
        self.summary.metadata_indexes.push(index);
    }

    /// Adds a message outside of a chunk. Its record begins at the offset `at` and ends at the offset `end`.
    pub fn add_run(&mut self, header: &MessageHeader, at: u64, end: u64) {
        let time = header.log_time;
        if let Some(run) = self.summary.chunk_indexes.last_mut()
            && run.chunk_start_offset + run.chunk_length == at
            && run.message_index_length == 0
            && run.uncompressed_size < MAX_RUN_BYTES
            && run.compression.is_empty()
        {
            run.chunk_length += end - at;
            run.compressed_size += end - at;
            run.uncompressed_size += end - at;
            run.message_start_time = run.message_start_time.min(time);
            run.message_end_time = run.message_end_time.max(time);
            return;
        }
        // The chunk offset is the one at which an uncompressed chunk with these records would begin. It is not
        // negative, because the file's header is longer than a chunk's header.
        self.summary.chunk_indexes.push(ChunkIndex {
            message_start_time: time,
            message_end_time: time,
            chunk_start_offset: at.saturating_sub(CHUNK_START_BYTES),
            chunk_length: CHUNK_START_BYTES + end - at,
            message_index_offsets: BTreeMap::new(),
            message_index_length: 0,
            compression: String::new(),
            compressed_size: end - at,
            uncompressed_size: end - at,
        });
    }

    /// Adds a schema or a channel, or counts a message.
    pub fn add(&mut self, record: Record<'_>) {
        let summary = &mut self.summary;
        match record {
            Record::Schema { header, data } => {
                let data = Cow::Owned(data.into_owned());
                let schema = Schema { id: header.id, name: header.name, encoding: header.encoding, data };
                summary.schemas.insert(header.id, Arc::new(schema));
            }
            Record::Channel(channel) => {
                let schema = summary.schemas.get(&channel.schema_id).cloned();
                let (topic, message_encoding) = (channel.topic, channel.message_encoding);
                let new = Channel { id: channel.id, topic, schema, message_encoding, metadata: channel.metadata };
                summary.channels.insert(channel.id, Arc::new(new));
            }
            Record::Message { header, .. } => self.count(&header),
            _ => {}
        }
    }

    /// Counts a message.
    pub fn count(&mut self, header: &MessageHeader) {
        *self.statistics.channel_message_counts.entry(header.channel_id).or_default() += 1;
        self.statistics.message_count += 1;
        self.cover(header.log_time, header.log_time);
    }

    fn cover(&mut self, first: u64, last: u64) {
        let statistics = &mut self.statistics;
        let is_empty = statistics.message_end_time == 0;
        statistics.message_start_time = if is_empty { first } else { statistics.message_start_time.min(first) };
        statistics.message_end_time = statistics.message_end_time.max(last);
    }
}
