//! The writer of an MCAP file, which is written chunk by chunk.
//!
//! All chunks in the file are complete if the process dies, except one that was just being written. Disk space for the
//! summary is reserved in advance, so that the file can be completed even if the disk is full.

use super::{
    Packed,
    direct_parts::DirectParts,
    encode,
    summary::{COUNT_BYTES, Summary},
    whole_file::WholeFile,
};
use crate::describe::PROFILE;
use mcap::{
    MAGIC,
    records::{ChunkIndex, Metadata, MetadataIndex, Statistics},
};
use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, IoSlice},
    path::{Path, PathBuf},
};

/// The disk space that is reserved for the end of a file, without its lists of channels and chunks, in bytes.
const END_BYTES: u64 = 1 << 20;
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
    summary: Summary,
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
            summary: Summary::default(),
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
        let (mut before, new) = self.summary.descriptions(chunk);
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
        self.summary.add_chunk(index, packed, new);
        Ok(())
    }

    /// Appends a metadata record.
    ///
    /// # Errors
    /// The same errors as [`FileWriter::write_chunk`].
    pub fn write_metadata(&mut self, metadata: &Metadata) -> io::Result<()> {
        let (record, index) = self.metadata_record(metadata);
        let listed = length_of(|out| encode::metadata_index(out, &index));
        self.append_listed(&mut [IoSlice::new(&record)], listed)?;
        self.summary.add_metadata(index);
        Ok(())
    }

    /// Appends a metadata record before the summary, in the space that was reserved for the end.
    ///
    /// # Errors
    /// The same errors as [`FileWriter::write_chunk`].
    pub fn write_last_metadata(&mut self, metadata: &Metadata) -> io::Result<()> {
        let (record, index) = self.metadata_record(metadata);
        self.file.append(&mut [IoSlice::new(&record)])?;
        self.summary.add_metadata(index);
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
        let end = self.summary.end(self.file.bytes());
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
        self.summary.statistics()
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
