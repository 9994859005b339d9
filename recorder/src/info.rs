//! `gantry bag info`: prints the description of a bag.

use crate::{
    describe::qos_profiles,
    read::{Bag, BagFile, type_name},
};
use clap::Args;
use gantry_command::{
    Output, Result,
    text::{bytes, seconds, utc},
};
use serde::Serialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::PathBuf,
};

/// The options of `info`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The folder of the bag, or an MCAP file
    bag: PathBuf,
}

#[derive(Serialize)]
struct Report {
    bag: String,
    files: Vec<FileReport>,
    bytes: u64,
    start_ns: Option<u64>,
    end_ns: Option<u64>,
    duration_ns: u64,
    messages: u64,
    topics: Vec<TopicReport>,
    compressions: BTreeSet<String>,
    /// The number of messages that the recorder missed, by topic.
    dropped: BTreeMap<String, u64>,
}

#[derive(Serialize)]
struct FileReport {
    path: String,
    bytes: u64,
    messages: u64,
    is_complete: bool,
    /// The number of bytes after the last complete record.
    lost_bytes: u64,
}

#[derive(Serialize)]
struct TopicReport {
    name: String,
    type_name: String,
    messages: u64,
    encoding: String,
    qos: Vec<String>,
}

impl Arguments {
    /// Prints the description of a bag.
    ///
    /// # Errors
    /// The bag cannot be read.
    pub fn run(self, output: Output) -> Result<()> {
        output.print(&report(&Bag::open(&self.bag)?))
    }
}

fn report(bag: &Bag) -> Report {
    let mut dropped: BTreeMap<String, u64> = BTreeMap::new();
    for (topic, count) in bag.files.iter().flat_map(|file| &file.drops) {
        *dropped.entry(topic.clone()).or_default() += count;
    }
    let files = bag.files.iter().map(|file| FileReport {
        path: file.path.display().to_string(),
        bytes: file.bytes,
        messages: file.statistics().message_count,
        is_complete: file.is_complete,
        lost_bytes: file.lost_bytes,
    });
    let topics = bag.channels().into_values().map(|channel| TopicReport {
        name: channel.topic.clone(),
        type_name: type_name(&channel).to_owned(),
        messages: bag.files.iter().map(|file| count(file, &channel.topic, type_name(&channel))).sum(),
        encoding: channel.message_encoding.clone(),
        qos: qos_profiles(&channel).iter().map(short).collect(),
    });
    let chunks = bag.files.iter().flat_map(|file| &file.summary.chunk_indexes);
    let compressions = chunks.map(|chunk| chunk.compression.clone()).filter(|name| !name.is_empty());
    let times = bag.times();
    Report {
        bag: bag.path.display().to_string(),
        bytes: bag.files.iter().map(|file| file.bytes).sum(),
        messages: bag.files.iter().map(|file| file.statistics().message_count).sum(),
        files: files.collect(),
        start_ns: times.map(|(start, _)| start),
        end_ns: times.map(|(_, end)| end),
        duration_ns: times.map_or(0, |(start, end)| end - start),
        topics: topics.collect(),
        compressions: compressions.collect(),
        dropped,
    }
}

fn count(file: &BagFile, topic: &str, of_type: &str) -> u64 {
    let channels = file.summary.channels.values();
    let own = channels.filter(|channel| channel.topic == topic && type_name(channel) == of_type);
    let statistics = file.statistics();
    own.filter_map(|channel| statistics.channel_message_counts.get(&channel.id)).sum()
}

/// The most important QoS policies as a short text.
fn short(qos: &gantry::Qos) -> String {
    let history = match qos.history {
        gantry::History::KeepLast => format!("KEEP_LAST ({})", qos.depth),
        gantry::History::KeepAll => "KEEP_ALL".to_owned(),
    };
    format!("{}, {}, {history}", qos.reliability, qos.durability)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, file) in self.files.iter().enumerate() {
            let title = if index == 0 { "Files:" } else { "" };
            let end = match (file.is_complete, file.lost_bytes) {
                (true, _) => String::new(),
                (false, 0) => ", without its end: it is written now, or its recorder died".to_owned(),
                (false, lost) => format!(", without its end, after {lost} bytes of a record that is cut off"),
            };
            writeln!(f, "{title:<13}{} ({}{end})", file.path, bytes(file.bytes))?;
        }
        writeln!(f, "Bag size:    {}", bytes(self.bytes))?;
        writeln!(f, "Storage id:  mcap")?;
        if !self.compressions.is_empty() {
            let names: Vec<&str> = self.compressions.iter().map(String::as_str).collect();
            writeln!(f, "Compression: {}", names.join(", "))?;
        }
        writeln!(f, "Duration:    {}", seconds(self.duration_ns))?;
        if let (Some(start), Some(end)) = (self.start_ns, self.end_ns) {
            writeln!(f, "Start:       {}", utc(start))?;
            writeln!(f, "End:         {}", utc(end))?;
        }
        writeln!(f, "Messages:    {}", self.messages)?;
        let dropped: u64 = self.dropped.values().sum();
        if dropped > 0 {
            writeln!(f, "Dropped:     {dropped} messages that the recorder missed")?;
        }
        for (index, topic) in self.topics.iter().enumerate() {
            let title = if index == 0 { "Topics:" } else { "" };
            let TopicReport { name, type_name, messages, encoding, .. } = topic;
            write!(f, "{title:<13}{name} | {type_name} | {messages} messages | {encoding} | {}", topic.qos.join("; "))?;
            match self.dropped.get(name) {
                Some(dropped) => writeln!(f, " | {dropped} dropped")?,
                None => writeln!(f)?,
            }
        }
        Ok(())
    }
}
