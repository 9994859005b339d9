//! Reads the messages of bags in the order of their times.
//!
//! Files whose times overlap are merged. Other files are read one after the other.

use super::{bag_file::BagFile, contents::MAX_CHUNK_BYTES};
use gantry_command::{Context, Failure, Result};
use mcap::{
    Channel,
    records::MessageHeader,
    sans_io::indexed_reader::{IndexedReadEvent, IndexedReader, IndexedReaderOptions},
};
use std::{collections::BTreeSet, ops::ControlFlow, os::unix::fs::FileExt, path::Path, sync::Arc};

/// The selection of the messages that are read.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// The topics that are read; `None` means all.
    pub topics: Option<BTreeSet<String>>,
    /// The earliest time that is read, in nanoseconds since 1970.
    pub start_ns: Option<u64>,
    /// The first time that is not read any more, in nanoseconds since 1970.
    pub end_ns: Option<u64>,
}

/// A message of a file.
#[derive(Debug)]
pub struct Message<'a> {
    /// The number of the file, in the order in which the files were given.
    pub file: usize,
    /// The channel.
    pub channel: &'a Arc<Channel<'static>>,
    /// The times and the sequence number of the message.
    pub header: MessageHeader,
    /// The data, with its encapsulation header.
    pub data: &'a [u8],
}

/// The messages of some files.
pub struct Messages<'a> {
    /// Groups of files. Only files whose times overlap are in the same group.
    groups: Vec<Vec<Cursor<'a>>>,
}

struct Cursor<'a> {
    number: usize,
    file: &'a BagFile,
    reader: IndexedReader,
    buffer: Vec<u8>,
    /// The next message of this file. Used only if files are merged.
    next: Option<(MessageHeader, Vec<u8>)>,
}

impl<'a> Messages<'a> {
    /// Prepares to read the messages that pass the filter.
    ///
    /// # Errors
    /// The summary of a file is not usable.
    pub fn new(files: impl IntoIterator<Item = &'a BagFile>, filter: &Filter) -> Result<Messages<'a>> {
        let mut cursors: Vec<(u64, u64, Cursor<'a>)> = Vec::new();
        for (number, file) in files.into_iter().enumerate() {
            let has_topic = |topics: &BTreeSet<String>| {
                file.summary.channels.values().any(|channel| topics.contains(&channel.topic))
            };
            let statistics = file.statistics();
            // A file without a selected topic is skipped here, because `IndexedReader` would read all topics if none is
            // given.
            if filter.topics.as_ref().is_some_and(|topics| !has_topic(topics)) || statistics.message_count == 0 {
                continue;
            }
            let mut options = IndexedReaderOptions::new();
            if let Some(topics) = &filter.topics {
                options = options.include_topics(topics.iter().cloned());
            }
            if let Some(start_ns) = filter.start_ns {
                options = options.starting_at(start_ns);
            }
            if let Some(end_ns) = filter.end_ns {
                options = options.ending_before(end_ns.max(filter.start_ns.unwrap_or_default()));
            }
            options.record_length_limit = Some(MAX_CHUNK_BYTES as usize);
            let reader = IndexedReader::new_with_options(&file.summary, options)
                .context(|| format!("cannot read {}", file.path.display()))?;
            let cursor = Cursor { number, file, reader, buffer: Vec::new(), next: None };
            cursors.push((statistics.message_start_time, statistics.message_end_time, cursor));
        }
        cursors.sort_by_key(|(start, _, cursor)| (*start, cursor.number));
        let (mut groups, mut group_end): (Vec<Vec<Cursor<'a>>>, u64) = (Vec::new(), 0);
        for (start, end, cursor) in cursors {
            match groups.last_mut() {
                Some(group) if start < group_end => group.push(cursor),
                _ => groups.push(vec![cursor]),
            }
            group_end = group_end.max(end);
        }
        Ok(Messages { groups })
    }

    /// Calls `visit` with each message, until `visit` returns `Break`.
    ///
    /// # Errors
    /// An error of `visit`, or a file cannot be read or is damaged.
    pub fn visit(self, mut visit: impl FnMut(Message<'_>) -> Result<ControlFlow<()>>) -> Result<()> {
        for group in self.groups {
            let flow = match group {
                mut one if one.len() == 1 => one.remove(0).visit_all(&mut visit)?,
                several => merge(several, &mut visit)?,
            };
            if flow.is_break() {
                break;
            }
        }
        Ok(())
    }
}

impl Cursor<'_> {
    fn visit_all(mut self, visit: &mut impl FnMut(Message<'_>) -> Result<ControlFlow<()>>) -> Result<ControlFlow<()>> {
        let mut flow = ControlFlow::Continue(());
        while flow.is_continue() {
            let (number, file) = (self.number, self.file);
            let visited = self.advance(|header, data| {
                let channel = channel(file, &header)?;
                flow = visit(Message { file: number, channel, header, data })?;
                Ok(())
            })?;
            if !visited {
                break;
            }
        }
        Ok(flow)
    }

    /// Calls `found` with the next message of the file. Returns `false` if there is none.
    fn advance(&mut self, found: impl FnOnce(MessageHeader, &[u8]) -> Result<()>) -> Result<bool> {
        let path: &Path = &self.file.path;
        let context = || format!("{} is damaged (`gantry bag verify` says more)", path.display());
        loop {
            let (offset, length) = match self.reader.next_event().transpose().context(context)? {
                None => return Ok(false),
                Some(IndexedReadEvent::Message { header, data }) => {
                    found(header, data)?;
                    return Ok(true);
                }
                Some(IndexedReadEvent::ReadChunkRequest { offset, length }) => (offset, length),
            };
            if offset.saturating_add(length as u64) > self.file.bytes {
                return Err(Failure::new(format!("{}: a chunk ends after the file", context())));
            }
            self.buffer.resize(length, 0);
            self.file.file.read_exact_at(&mut self.buffer, offset).context(context)?;
            self.reader.insert_chunk_record_data(offset, &self.buffer).context(context)?;
        }
    }

    fn look_ahead(&mut self) -> Result<()> {
        let mut data = self.next.take().map(|(_, data)| data).unwrap_or_default();
        let mut next = None;
        self.advance(|header, bytes| {
            data.clear();
            data.extend_from_slice(bytes);
            next = Some(header);
            Ok(())
        })?;
        self.next = next.map(|header| (header, data));
        Ok(())
    }
}

fn merge(
    mut cursors: Vec<Cursor<'_>>,
    visit: &mut impl FnMut(Message<'_>) -> Result<ControlFlow<()>>,
) -> Result<ControlFlow<()>> {
    for cursor in &mut cursors {
        cursor.look_ahead()?;
    }
    loop {
        let time = |cursor: &&mut Cursor<'_>| cursor.next.as_ref().map(|(header, _)| header.log_time);
        let earliest = cursors.iter_mut().filter(|cursor| cursor.next.is_some()).min_by_key(time);
        let Some(cursor) = earliest else { return Ok(ControlFlow::Continue(())) };
        let Some((header, data)) = &cursor.next else { return Ok(ControlFlow::Continue(())) };
        let channel = channel(cursor.file, header)?;
        if visit(Message { file: cursor.number, channel, header: *header, data })?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        cursor.look_ahead()?;
    }
}

fn channel<'a>(file: &'a BagFile, header: &MessageHeader) -> Result<&'a Arc<Channel<'static>>> {
    file.summary.channels.get(&header.channel_id).ok_or_else(|| {
        let (path, id) = (file.path.display(), header.channel_id);
        Failure::new(format!("{path} is damaged: a message has the channel {id}, which the file does not describe"))
    })
}
