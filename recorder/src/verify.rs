//! `gantry bag verify`: reads every byte of a bag, and compares the messages with the checksums, indexes and counts in
//! the files.

use crate::read::{Bag, BagFile, MAX_CHUNK_BYTES, visit_chunk};
use clap::Args;
use gantry_command::{Failure, Output, Result};
use mcap::{
    parse_record,
    records::{ChunkIndex, Record, op},
};
use serde::Serialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    os::unix::fs::FileExt,
    path::PathBuf,
};

/// The largest number of problems that are listed.
const MAX_LISTED: usize = 20;
/// The number of bytes of a chunk record before the name of its compression.
const FIXED_BYTES: usize = 9 + 8 + 8 + 8 + 4 + 4;

/// The options of `verify`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The folder of the bag, or an MCAP file
    bag: PathBuf,
}

#[derive(Default, Serialize)]
struct Report {
    files: usize,
    chunks: usize,
    messages: u64,
    /// The number of chunks that have a checksum.
    checksums: usize,
    problems: Vec<String>,
    /// Facts about the bag that are no damage.
    remarks: Vec<String>,
}

impl Arguments {
    /// Prints the damage in the bag.
    ///
    /// # Errors
    /// The bag cannot be read, or is damaged.
    pub fn run(self, output: Output) -> Result<()> {
        let bag = Bag::open(&self.bag)?;
        let mut report = Report { files: bag.files.len(), ..Report::default() };
        for file in &bag.files {
            Check { file, path: file.path.display().to_string(), report: &mut report, counts: BTreeMap::new() }.run();
        }
        output.print(&report)?;
        match report.problems.len() {
            0 => Ok(()),
            1 => Err(Failure::new(format!("{} is damaged in one place", self.bag.display()))),
            count => Err(Failure::new(format!("{} is damaged in {count} places", self.bag.display()))),
        }
    }
}

struct Check<'a> {
    file: &'a BagFile,
    path: String,
    report: &'a mut Report,
    counts: BTreeMap<u16, u64>,
}

impl Check<'_> {
    fn run(mut self) {
        let lost = self.file.lost_bytes;
        match (self.file.is_complete, lost) {
            (true, _) => {}
            (false, 0) => self.remark("it has no end: it is written now, or its recorder died".to_owned()),
            (false, lost) => {
                self.remark(format!("the file has no end, and its last {lost} bytes are not a whole record"))
            }
        }
        for (topic, count) in &self.file.drops {
            self.remark(format!("{topic}: the recorder missed {count} messages"));
        }
        for index in &self.file.summary.chunk_indexes {
            self.report.chunks += 1;
            if let Err(why) = self.chunk(index) {
                self.problem(format!("the chunk at byte {}: {why}", index.chunk_start_offset));
            }
        }
        let said = self.file.statistics();
        if said.channel_message_counts != self.counts {
            let found: u64 = self.counts.values().sum();
            self.problem(format!("it has {found} messages, and its summary says {}", said.message_count));
        }
    }

    fn problem(&mut self, what: String) {
        self.report.problems.push(format!("{}: {what}", self.path));
    }

    fn remark(&mut self, what: String) {
        self.report.remarks.push(format!("{}: {what}", self.path));
    }

    fn chunk(&mut self, index: &ChunkIndex) -> std::result::Result<(), String> {
        let at = index.compressed_data_offset().map_err(text)?;
        if at.saturating_add(index.compressed_size) > self.file.bytes {
            return Err("it ends after the file".to_owned());
        }
        let bytes = self.bytes(at, index.compressed_size)?;
        let crc = self.crc(index)?;
        self.report.checksums += usize::from(crc != 0);
        let mut times: BTreeMap<u16, Vec<u64>> = BTreeMap::new();
        let visited = visit_chunk(index, crc, &bytes, |record| {
            if let Record::Message { header, .. } = record {
                times.entry(header.channel_id).or_default().push(header.log_time);
            }
        });
        for (channel, times) in &times {
            self.report.messages += times.len() as u64;
            *self.counts.entry(*channel).or_default() += times.len() as u64;
        }
        visited?;
        if let Some(channel) = times.keys().find(|id| !self.file.summary.channels.contains_key(id)) {
            return Err(format!("messages have the channel {channel}, which is not described"));
        }
        let range = index.message_start_time..=index.message_end_time;
        if let Some(time) = times.values().flatten().find(|time| !range.contains(time)) {
            return Err(format!("a message has the time {time}, which is outside of the chunk's"));
        }
        self.indexes(index, &times)
    }

    /// The checksum of a chunk, or 0 if the chunk has none. It is read from the chunk's record, because the index of
    /// the chunk does not contain it.
    fn crc(&self, index: &ChunkIndex) -> std::result::Result<u32, String> {
        let start = self.bytes(index.chunk_start_offset, FIXED_BYTES as u64)?;
        let expected =
            [index.message_start_time, index.message_end_time, index.uncompressed_size].map(u64::to_le_bytes);
        // In a file without its end, the summary comes from a scan. There, the index entry of a chunk may stand for
        // messages outside of chunks, or for a chunk that is cut off, so no checksum is available.
        if start[0] != op::CHUNK || start[9..33] != *expected.as_flattened() {
            return Ok(0);
        }
        Ok(u32::from_le_bytes([start[33], start[34], start[35], start[36]]))
    }

    /// Compares the message indexes after a chunk with the times of the chunk's messages.
    fn indexes(&mut self, index: &ChunkIndex, times: &BTreeMap<u16, Vec<u64>>) -> std::result::Result<(), String> {
        for (channel, offset) in &index.message_index_offsets {
            let start = self.bytes(*offset, 9)?;
            let length = start.get(1..9).and_then(|length| length.try_into().ok()).map(u64::from_le_bytes);
            let length = length.filter(|length| offset.saturating_add(*length) <= self.file.bytes);
            let content = self.bytes(offset + 9, length.ok_or("an index of its messages is cut off")?)?;
            let record = (start[0] == op::MESSAGE_INDEX).then(|| parse_record(op::MESSAGE_INDEX, &content));
            let Some(Ok(Record::MessageIndex(own))) = record else {
                return Err("the record at an index of its messages is not an index".to_owned());
            };
            let indexed: Vec<u64> = own.records.iter().map(|entry| entry.log_time).collect();
            let has_all = |times: &Vec<u64>| sorted(times) == sorted(&indexed);
            if own.channel_id != *channel || !times.get(channel).is_some_and(has_all) {
                return Err(format!("the index of channel {channel} does not have the times of its messages"));
            }
        }
        let indexed: BTreeSet<u16> = index.message_index_offsets.keys().copied().collect();
        match times.keys().find(|channel| !indexed.is_empty() && !indexed.contains(channel)) {
            Some(channel) => Err(format!("channel {channel} has messages, and no index of them")),
            None => Ok(()),
        }
    }

    fn bytes(&self, at: u64, length: u64) -> std::result::Result<Vec<u8>, String> {
        if at.saturating_add(length) > self.file.bytes {
            return Err("it names bytes after the file".to_owned());
        }
        if length > MAX_CHUNK_BYTES {
            return Err(format!(
                "it says that it has {length} bytes, more than the {MAX_CHUNK_BYTES} that can be read"
            ));
        }
        let mut bytes = vec![0; length as usize];
        self.file.file.read_exact_at(&mut bytes, at).map_err(text)?;
        Ok(bytes)
    }
}

fn text(error: impl fmt::Display) -> String {
    error.to_string()
}

fn sorted(times: &[u64]) -> Vec<u64> {
    let mut times = times.to_vec();
    times.sort_unstable();
    times
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for remark in &self.remarks {
            writeln!(f, "{remark}")?;
        }
        for problem in self.problems.iter().take(MAX_LISTED) {
            writeln!(f, "DAMAGE: {problem}")?;
        }
        if self.problems.len() > MAX_LISTED {
            writeln!(f, "DAMAGE: and {} more", self.problems.len() - MAX_LISTED)?;
        }
        let Report { files, chunks, messages, checksums, .. } = self;
        let verdict = if self.problems.is_empty() { "no damage" } else { "DAMAGED" };
        writeln!(f, "{files} files, {chunks} chunks ({checksums} with a checksum), {messages} messages: {verdict}")
    }
}
