//! The writer of an MCAP file, which is written chunk by chunk.
//!
//! All chunks in the file are complete if the process dies, except one that was just being written. Disk space for the
//! summary is reserved in advance, so that the file can be completed even if the disk is full.

use super::{Chunk, Packed, direct_parts::DirectParts, encode, whole_file::WholeFile};
use crate::describe::PROFILE;
use mcap::{
    Channel, MAGIC,
    records::{ChunkIndex, Footer, Metadata, MetadataIndex, Statistics, op},
};
use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, IoSlice},
    path::{Path, PathBuf},
    sync::Arc,
};

/// The disk space that is reserved for the end of a file, without its lists of channels and chunks, in bytes.
const END_BYTES: u64 = 1 << 20;
/// The length of a channel's count in the statistics, in bytes.
const COUNT_BYTES: usize = 10;
const LIBRARY: &str = concat!("gantry-bag ", env!("CARGO_PKG_VERSION"));

/// The way of a chunk to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// Through the page cache: fast, even if the disk is slow, but with a page of memory for each page of the file.
    PageCache,
    /// Past the page cache, if the file system can and the chunk is large. This takes less CPU time, and waits for the
    /// disk.
    Direct,
}

/// A file that is being written.
#[derive(Debug)]
pub struct FileWriter {
    file: WholeFile,
    /// The copies that direct writes need.
    direct_parts: DirectParts,
    path: PathBuf,
    /// The length of the lists of channels and chunks in the summary, in bytes.
    listed_bytes: u64,
    channels: BTreeMap<u16, Arc<Channel<'static>>>,
    chunks: Vec<ChunkIndex>,
    metadata: Vec<MetadataIndex>,
    statistics: Statistics,
}

impl FileWriter {
    /// Creates the file and writes its beginning.
    ///
    /// # Errors
    /// The file exists, or cannot be created. If the beginning cannot be written, the file is removed.
    pub fn create(path: &Path) -> io::Result<FileWriter> {
        let mut writer = FileWriter {
            file: WholeFile::create(path)?,
            direct_parts: DirectParts::default(),
            path: path.to_owned(),
            listed_bytes: 0,
            channels: BTreeMap::new(),
            chunks: Vec::new(),
            metadata: Vec::new(),
            statistics: Statistics::default(),
        };
        let mut start = MAGIC.to_vec();
        encode::header(&mut start, PROFILE, LIBRARY);
        match writer.append_listed(&mut [IoSlice::new(&start)], 0) {
            Ok(()) => Ok(writer),
            Err(error) => {
                fs::remove_file(path)?;
                Err(error)
            }
        }
    }

    /// Appends a chunk. First come the schemas and channels that the file does not have yet, then the chunk, then its
    /// message indexes. A direct write begins the records of a chunk with padded messages at a multiple of the
    /// alignment, and ends at such a multiple.
    ///
    /// # Errors
    /// An error of the operating system. The file is then unchanged.
    pub fn write_chunk(&mut self, packed: &Packed, route: Route) -> io::Result<()> {
        let chunk = packed.chunk();
        let alignment = match route {
            Route::Direct => self.file.direct_alignment(packed.bytes(), packed.padded_bytes()),
            Route::PageCache => None,
        };
        let (mut before, new) = self.descriptions(chunk);
        let mut listed = before.len() + new.len() * COUNT_BYTES;
        if let Some(alignment) = alignment
            && packed.padded_bytes() > 0
        {
            let records_offset = self.file.bytes() + (before.len() + packed.start().start_bytes()) as u64;
            encode::padding(&mut before, records_offset, 0, alignment);
        }
        let chunk_start_offset = self.file.bytes() + before.len() as u64;
        packed.start().write(&mut before);
        let (mut after, mut offsets) = (Vec::new(), BTreeMap::new());
        let chunk_length = packed.start().record_bytes();
        for of_channel in chunk.channels() {
            offsets.insert(of_channel.channel.id, chunk_start_offset + chunk_length + after.len() as u64);
            encode::message_index(&mut after, of_channel.channel.id, &of_channel.entries);
        }
        let (message_start_time, message_end_time) = chunk.times().unwrap_or_default();
        let index = ChunkIndex {
            message_start_time,
            message_end_time,
            chunk_start_offset,
            chunk_length,
            message_index_offsets: offsets,
            message_index_length: after.len() as u64,
            compression: packed.start().compression.to_owned(),
            compressed_size: packed.start().compressed_bytes,
            uncompressed_size: packed.start().uncompressed_bytes,
        };
        listed += length_of(|out| encode::chunk_index(out, &index));
        if let Some(alignment) = alignment {
            let end = chunk_start_offset + chunk_length + after.len() as u64;
            encode::padding(&mut after, end, 0, alignment);
        }
        let parts = std::iter::once(&before[..]).chain(packed.parts()).chain([&after[..]]);
        let bytes = before.len() as u64 + packed.start().compressed_bytes + after.len() as u64;
        let listed_bytes = self.reserve(bytes, listed)?;
        match alignment {
            Some(alignment) => {
                let mut parts = self.direct_parts.arrange(parts, self.file.bytes(), alignment);
                self.file.append_direct(&mut parts)?;
            }
            None => self.file.append(&mut parts.map(IoSlice::new).collect::<Vec<_>>())?,
        }
        self.listed_bytes = listed_bytes;
        self.chunks.push(index);
        self.channels.extend(new.into_iter().map(|channel| (channel.id, channel)));
        self.count(packed);
        Ok(())
    }

    /// The records of the schemas and channels of a chunk that the file does not have yet, and these channels.
    fn descriptions(&self, chunk: &Chunk) -> (Vec<u8>, Vec<Arc<Channel<'static>>>) {
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

    /// Appends a metadata record.
    ///
    /// # Errors
    /// The same errors as [`FileWriter::write_chunk`].
    pub fn write_metadata(&mut self, metadata: &Metadata) -> io::Result<()> {
        let (record, index) = self.metadata_record(metadata);
        let listed = length_of(|out| encode::metadata_index(out, &index));
        self.append_listed(&mut [IoSlice::new(&record)], listed)?;
        self.metadata.push(index);
        Ok(())
    }

    /// Appends a metadata record before the summary, in the space that was reserved for the end.
    ///
    /// # Errors
    /// The same errors as [`FileWriter::write_chunk`].
    pub fn write_last_metadata(&mut self, metadata: &Metadata) -> io::Result<()> {
        let (record, index) = self.metadata_record(metadata);
        self.file.append(&mut [IoSlice::new(&record)])?;
        self.metadata.push(index);
        Ok(())
    }

    fn metadata_record(&self, metadata: &Metadata) -> (Vec<u8>, MetadataIndex) {
        let mut record = Vec::new();
        encode::metadata(&mut record, metadata);
        let (offset, length, name) = (self.file.bytes(), record.len() as u64, metadata.name.clone());
        (record, MetadataIndex { offset, length, name })
    }

    /// Writes the summary. The caller syncs the file to the disk by `File::sync_data`, which may take time.
    ///
    /// # Errors
    /// An error of the operating system. The file then has all its messages, but no summary.
    pub fn finish(mut self) -> io::Result<File> {
        let mut end = Vec::new();
        encode::data_end(&mut end);
        let summary_start = self.file.bytes() + end.len() as u64;
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
        let summary_offset_start = self.file.bytes() + end.len() as u64;
        for (opcode, start, length) in groups {
            encode::summary_offset(&mut end, opcode, self.file.bytes() + start as u64, length as u64);
        }
        encode::footer(&mut end, Footer { summary_start, summary_offset_start, summary_crc: 0 });
        end.extend(MAGIC);
        self.file.append(&mut [IoSlice::new(&end)])?;
        self.file.finish()
    }

    /// Appends records, if the disk also has space for the `listed` bytes that they add to the summary.
    fn append_listed(&mut self, parts: &mut [IoSlice<'_>], listed: usize) -> io::Result<()> {
        let listed_bytes = self.reserve(WholeFile::bytes_of(parts), listed)?;
        self.file.append(parts)?;
        self.listed_bytes = listed_bytes;
        Ok(())
    }

    /// Reserves disk space for records of `bytes` bytes, and for the summary with their `listed` bytes. Returns the new
    /// length of the lists in the summary.
    fn reserve(&mut self, bytes: u64, listed: usize) -> io::Result<u64> {
        let listed_bytes = self.listed_bytes + listed as u64;
        self.file.reserve(bytes + listed_bytes + END_BYTES)?;
        Ok(listed_bytes)
    }

    /// The length of the file.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.file.bytes()
    }

    /// The memory for the copies that direct writes need, in bytes.
    #[must_use]
    pub fn buffer_bytes(&self) -> u64 {
        self.direct_parts.bytes()
    }

    /// The path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The statistics of the file so far.
    #[must_use]
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Whether the file still exists under its name.
    ///
    /// # Errors
    /// An error of the operating system.
    pub fn is_linked(&self) -> io::Result<bool> {
        self.file.is_linked()
    }

    /// Another handle of the file, with which another thread can sync the file to the disk.
    ///
    /// # Errors
    /// An error of the operating system.
    pub fn handle(&self) -> io::Result<File> {
        self.file.handle()
    }
}

/// The number of bytes that `write` appends.
fn length_of(write: impl FnOnce(&mut Vec<u8>)) -> usize {
    let mut out = Vec::new();
    write(&mut out);
    out.len()
}

fn schema_id(channel: &Channel<'_>) -> Option<u16> {
    channel.schema.as_ref().map(|schema| schema.id)
}
