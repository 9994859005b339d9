//! A file of a bag, with its summary. The summary is read from the end of the file. If the file has no end, a scan
//! makes the summary.

use super::scan::{drops, scan};
use gantry_command::{Context, Result};
use mcap::{
    Summary,
    records::Statistics,
    sans_io::summary_reader::{SummaryReadEvent, SummaryReader, SummaryReaderOptions},
};
use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read, Seek},
    path::{Path, PathBuf},
};

/// A file of a bag for reading.
#[derive(Debug)]
pub struct BagFile {
    /// The path.
    pub path: PathBuf,
    /// The file.
    pub file: File,
    /// The length of the file in bytes.
    pub bytes: u64,
    /// The channels and chunks of the file.
    pub summary: Summary,
    /// Whether the file has its end. Without it, the recorder is still writing the file or has crashed.
    pub is_complete: bool,
    /// The number of bytes after the last complete record, in a file without its end.
    pub lost_bytes: u64,
    /// The number of messages that the recorder missed, by topic.
    pub drops: BTreeMap<String, u64>,
}

impl BagFile {
    /// Opens a file. If the file has no end, it is read up to its last complete record.
    ///
    /// # Errors
    /// The file cannot be read, or is not an MCAP file.
    pub fn open(path: &Path) -> Result<BagFile> {
        let context = || format!("cannot read {}", path.display());
        let mut file = File::open(path).context(context)?;
        let bytes = file.metadata().context(context)?.len();
        let summary = match read_summary(&mut file, bytes) {
            Some(summary) if is_useful(&summary) => Some(summary),
            _ => None,
        };
        let (summary, is_complete, lost_bytes) = match summary {
            Some(summary) => (summary, true, 0),
            None => {
                let scanned = scan(path, &file)?;
                (scanned.summary, scanned.is_complete, scanned.lost_bytes)
            }
        };
        let drops = drops(&file, &summary);
        Ok(BagFile { path: path.to_owned(), file, bytes, summary, is_complete, lost_bytes, drops })
    }

    /// The statistics of the file, such as its number of messages.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        self.summary.stats.clone().unwrap_or_default()
    }
}

/// Whether the summary lists as many chunks as its statistics state, and describes every channel that they count.
fn is_useful(summary: &Summary) -> bool {
    let statistics = summary.stats.as_ref();
    statistics.is_some_and(|statistics| {
        statistics.chunk_count as usize == summary.chunk_indexes.len()
            && (statistics.message_count == 0 || !summary.chunk_indexes.is_empty())
            && statistics.channel_message_counts.keys().all(|id| summary.channels.contains_key(id))
    })
}

/// Reads the summary at the end of the file. The result is `None` if the summary is missing or damaged.
fn read_summary(file: &mut File, bytes: u64) -> Option<Summary> {
    let options = SummaryReaderOptions::default().with_file_size(bytes);
    let mut reader = SummaryReader::new_with_options(options);
    while let Some(event) = reader.next_event() {
        match event.ok()? {
            SummaryReadEvent::ReadRequest(need) => {
                let count = read(file, reader.insert(need)).ok()?;
                reader.notify_read(count);
            }
            SummaryReadEvent::SeekRequest(to) => reader.notify_seeked(file.seek(to).ok()?),
        }
    }
    reader.finish()
}

fn read(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match file.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
