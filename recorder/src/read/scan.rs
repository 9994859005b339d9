//! The scan of a file without a summary. It reads one record after the other, up to the last complete one.
//!
//! The result is the summary that the file would have. If the last chunk is cut off, its complete messages are
//! included.

use super::{
    chunk_records,
    contents::{CHUNK_START_BYTES, Contents, MAX_CHUNK_BYTES, START_BYTES},
};
use crate::write::DROPS;
use gantry_command::{Context, Failure, Result};
use mcap::{
    MAGIC, Summary, parse_record,
    records::{ChunkHeader, ChunkIndex, MetadataIndex, Record, op},
};
use std::{collections::BTreeMap, fs::File, io, os::unix::fs::FileExt, path::Path};

/// The largest number of bytes of a chunk record before its compressed records.
const MAX_CHUNK_START_BYTES: u64 = CHUNK_START_BYTES + 64;
/// The largest number of bytes of a record other than a chunk. Such a record is read completely into memory.
const MAX_RECORD_BYTES: u64 = 1 << 30;

/// The result of a scan.
#[derive(Debug)]
pub struct Scanned {
    /// The summary.
    pub summary: Summary,
    /// Whether the file has its end, which begins with the record DATA_END.
    pub is_complete: bool,
    /// The number of bytes after the last complete record.
    pub lost_bytes: u64,
}

struct Scan<'a> {
    file: &'a File,
    file_bytes: u64,
    contents: Contents,
    is_complete: bool,
    /// The last chunk. The message indexes that follow a chunk belong to it.
    chunk: Option<ChunkIndex>,
    /// The number of messages in the last chunk by channel, from the message indexes after this chunk.
    indexed: BTreeMap<u16, u64>,
}

/// Scans a file.
///
/// # Errors
/// The file is not an MCAP file, or cannot be read.
pub fn scan(path: &Path, file: &File) -> Result<Scanned> {
    let context = || format!("cannot read {}", path.display());
    let file_bytes = file.metadata().context(context)?.len();
    let mut magic = [0; MAGIC.len()];
    match file.read_exact_at(&mut magic, 0) {
        Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => return Err(error).context(context),
        Ok(()) if magic == MAGIC => {}
        _ => return Err(Failure::new(format!("{} is not an MCAP file", path.display()))),
    }
    let mut scan = Scan {
        file,
        file_bytes,
        contents: Contents::default(),
        is_complete: false,
        chunk: None,
        indexed: BTreeMap::new(),
    };
    let lost_bytes = scan.records().context(context)?;
    Ok(Scanned { summary: scan.contents.into_summary(), is_complete: scan.is_complete, lost_bytes })
}

impl Scan<'_> {
    /// Reads all records. Returns the number of bytes after the last complete record.
    fn records(&mut self) -> Result<u64> {
        let mut at = MAGIC.len() as u64;
        while let Some((opcode, length)) = self.start(at)? {
            let end = at.saturating_add(START_BYTES).saturating_add(length);
            let is_whole = end <= self.file_bytes;
            if !matches!(opcode, op::MESSAGE_INDEX) {
                self.end_chunk()?;
            }
            match opcode {
                op::CHUNK if !self.begin_chunk(at, end, is_whole)? => break,
                op::CHUNK if !is_whole => {
                    at = self.chunk.as_ref().map_or(at, |chunk| chunk.chunk_start_offset + chunk.chunk_length);
                    self.end_chunk()?;
                    break;
                }
                op::CHUNK => {}
                _ if !is_whole || length > MAX_RECORD_BYTES => break,
                op::DATA_END => {
                    self.is_complete = true;
                    at = self.file_bytes; // only the summary, or a part of it, follows
                    break;
                }
                op::MESSAGE => self.message(at, end)?,
                _ => self.record(opcode, at, length)?,
            }
            at = end;
        }
        if !self.is_complete {
            // In a file without its end, some channels of the last chunk may have no index. So the chunk itself is read
            // instead of its indexes.
            self.indexed.clear();
            self.chunk.iter_mut().for_each(|chunk| {
                chunk.message_index_offsets.clear();
                chunk.message_index_length = 0;
            });
        }
        self.end_chunk()?;
        Ok(self.file_bytes - at)
    }

    /// The opcode and the length of the record at this offset; `None` at the end of the file.
    fn start(&self, at: u64) -> Result<Option<(u8, u64)>> {
        if at.saturating_add(START_BYTES) > self.file_bytes {
            return Ok(None);
        }
        let start: [u8; START_BYTES as usize] = self.bytes(at, START_BYTES)?.try_into().unwrap_or_default();
        let [opcode, length @ ..] = start;
        Ok(Some((opcode, u64::from_le_bytes(length))))
    }

    fn bytes(&self, at: u64, length: u64) -> Result<Vec<u8>> {
        if at.saturating_add(length) > self.file_bytes {
            return Err(Failure::new(format!("a record at byte {at} says that it is longer than the file")));
        }
        if length > MAX_CHUNK_BYTES {
            return Err(Failure::new(format!("a record at byte {at} says that it has {length} bytes")));
        }
        let mut bytes = vec![0; usize::try_from(length).map_err(Failure::new)?];
        self.file.read_exact_at(&mut bytes, at).map_err(Failure::new)?;
        Ok(bytes)
    }

    /// Begins a chunk. Returns `false` if not even one record of the chunk can be read.
    fn begin_chunk(&mut self, at: u64, end: u64, is_whole: bool) -> Result<bool> {
        let content_bytes = (self.file_bytes - at - START_BYTES).min(MAX_CHUNK_START_BYTES);
        let content = self.bytes(at + START_BYTES, content_bytes)?;
        let Some(header) = chunk_header(&content) else { return Ok(false) };
        let start_bytes = CHUNK_START_BYTES + header.compression.len() as u64;
        let mut index = ChunkIndex {
            message_start_time: header.message_start_time,
            message_end_time: header.message_end_time,
            chunk_start_offset: at,
            chunk_length: end.saturating_sub(at),
            message_index_offsets: BTreeMap::new(),
            message_index_length: 0,
            compression: header.compression,
            compressed_size: header.compressed_size,
            uncompressed_size: header.uncompressed_size,
        };
        if !is_whole {
            if !index.compression.is_empty() {
                return Ok(false);
            }
            // The recorder crashed while it wrote this chunk, so only the first messages of the chunk are complete.
            let present =
                self.bytes(at + start_bytes, self.file_bytes.saturating_sub(at + start_bytes).min(MAX_CHUNK_BYTES))?;
            let whole = whole_records(&present) as u64;
            (index.compressed_size, index.uncompressed_size) = (whole, whole);
            index.chunk_length = start_bytes + whole;
        }
        self.chunk = Some(index);
        Ok(true)
    }

    /// Adds the last chunk to the summary. The chunk itself is read if it has no message index, or if one of its
    /// channels is not described before it.
    fn end_chunk(&mut self) -> Result<()> {
        let Some(mut chunk) = self.chunk.take() else { return Ok(()) };
        let is_known = !chunk.message_index_offsets.is_empty()
            && chunk.message_index_offsets.keys().all(|id| self.contents.has_channel(*id));
        let indexed = std::mem::take(&mut self.indexed);
        match is_known {
            true => self.contents.count_indexed(&chunk, indexed),
            false => self.read_chunk(&mut chunk)?,
        }
        self.contents.add_chunk(chunk);
        Ok(())
    }

    fn read_chunk(&mut self, chunk: &mut ChunkIndex) -> Result<()> {
        let at = chunk.compressed_data_offset().map_err(Failure::new)?;
        // The chunk is added without messages if its stated length exceeds the file.
        let Ok(bytes) = self.bytes(at, chunk.compressed_size) else { return Ok(()) };
        let mut times: Option<(u64, u64)> = None;
        // The messages before the damage are counted if the chunk is damaged. `verify` reports the damage.
        let _ = chunk_records::visit(chunk, 0, &bytes, |record| {
            if let Record::Message { header, .. } = &record {
                let (first, last) = times.unwrap_or((header.log_time, header.log_time));
                times = Some((first.min(header.log_time), last.max(header.log_time)));
            }
            self.contents.add(record);
        });
        if let Some((first, last)) = times {
            (chunk.message_start_time, chunk.message_end_time) = (first, last);
        }
        Ok(())
    }

    /// Adds a message outside of a chunk.
    fn message(&mut self, at: u64, end: u64) -> Result<()> {
        let content = self.bytes(at + START_BYTES, (end - at - START_BYTES).min(22))?;
        let Ok(Record::Message { header, .. }) = parse_record(op::MESSAGE, &content) else { return Ok(()) };
        self.contents.count(&header);
        self.contents.add_run(&header, at, end);
        Ok(())
    }

    fn record(&mut self, opcode: u8, at: u64, length: u64) -> Result<()> {
        if !matches!(opcode, op::SCHEMA | op::CHANNEL | op::METADATA | op::MESSAGE_INDEX) {
            return Ok(());
        }
        let content = self.bytes(at + START_BYTES, length)?;
        // A damaged record is skipped.
        let Ok(record) = parse_record(opcode, &content) else { return Ok(()) };
        match record {
            Record::Metadata(metadata) => {
                let name = metadata.name;
                let index = MetadataIndex { offset: at, length: START_BYTES + length, name };
                self.contents.add_metadata(index);
            }
            Record::MessageIndex(index) => {
                if let Some(chunk) = &mut self.chunk {
                    chunk.message_index_offsets.insert(index.channel_id, at);
                    chunk.message_index_length += START_BYTES + length;
                    *self.indexed.entry(index.channel_id).or_default() += index.records.len() as u64;
                }
            }
            record => self.contents.add(record),
        }
        Ok(())
    }
}

/// Parses the header of a chunk. The content of the chunk may be cut off.
fn chunk_header(content: &[u8]) -> Option<ChunkHeader> {
    let number = |at: usize| Some(u64::from_le_bytes(content.get(at..at + 8)?.try_into().ok()?));
    let number_32 = |at: usize| Some(u32::from_le_bytes(content.get(at..at + 4)?.try_into().ok()?));
    let name_bytes = number_32(28)? as usize;
    Some(ChunkHeader {
        message_start_time: number(0)?,
        message_end_time: number(8)?,
        uncompressed_size: number(16)?,
        uncompressed_crc: number_32(24)?,
        compression: String::from_utf8(content.get(32..32 + name_bytes)?.to_vec()).ok()?,
        compressed_size: number(32 + name_bytes)?,
    })
}

/// The total length of the complete records at the beginning of `bytes`.
fn whole_records(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(length) = bytes.get(at + 1..at + START_BYTES as usize) {
        let length = u64::from_le_bytes(length.try_into().unwrap_or_default());
        let end = (at as u64 + START_BYTES).saturating_add(length);
        if end > bytes.len() as u64 {
            break;
        }
        at = end as usize;
    }
    at
}

/// The number of missing messages by topic, from the last record in the file that states it.
pub fn drops(file: &File, summary: &Summary) -> BTreeMap<String, u64> {
    let index = summary.metadata_indexes.iter().rfind(|index| index.name == DROPS);
    let read = |index: &MetadataIndex| {
        let length = usize::try_from(index.length).ok().filter(|length| *length as u64 <= MAX_RECORD_BYTES)?;
        let mut record = vec![0; length];
        file.read_exact_at(&mut record, index.offset).ok()?;
        match parse_record(op::METADATA, record.get(START_BYTES as usize..)?) {
            Ok(Record::Metadata(metadata)) => Some(metadata.metadata),
            _ => None,
        }
    };
    let texts = index.and_then(read).unwrap_or_default();
    texts.into_iter().filter_map(|(topic, count)| Some((topic, count.parse().ok()?))).collect()
}
