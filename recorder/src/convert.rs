//! `gantry bag convert`: makes a bag from parts of other bags.

use crate::{
    import::{Imported, import, sqlite_files},
    progress::Progress,
    read::{Bag, BagFile, Filter, Message, Messages, type_name},
    topics::{Topic, Topics, lock},
    write::{BagWriter, Body, Chunk, Compression, FileLimits, Route},
};
use clap::Args;
use gantry_command::{
    Context, Failure, Output, Result, TopicOptions,
    text::{bytes, parse_bytes, parse_seconds},
};
use mcap::{Channel, Schema};
use serde::Serialize;
use std::{
    collections::HashMap,
    fmt,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::{Arc, atomic::Ordering::Relaxed},
    time::{Duration, Instant},
};

/// The number of bytes at which a chunk is written to the file.
const CHUNK_BYTES: u64 = 1 << 20;
/// The time between two updates of the progress line.
const REPORT: Duration = Duration::from_millis(200);

/// The options of `convert`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Folders of bags, MCAP files, or SQLite files of rosbag2; several are merged by time
    #[arg(required = true)]
    bags: Vec<PathBuf>,
    /// The folder of the new bag; it must not exist yet
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
    #[command(flatten)]
    topics: TopicOptions,
    /// Skip this number of seconds at the beginning
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = parse_seconds)]
    start: Option<f64>,
    /// Stop this number of seconds after the beginning
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = parse_seconds)]
    end: Option<f64>,
    /// Compress the messages
    #[arg(long, value_enum, default_value_t, visible_alias = "compression-format")]
    compression: Compression,
    /// Begin a new file before the current one has more bytes than this, such as 2G
    #[arg(short = 'b', long, value_name = "BYTES", allow_negative_numbers = true, value_parser = parse_bytes)]
    max_bag_size: Option<u64>,
    /// Begin a new file after this number of seconds
    #[arg(
        short = 'd',
        long,
        value_name = "SECONDS",
        allow_negative_numbers = true,
        value_parser = clap::value_parser!(u64).range(1..)
    )]
    max_bag_duration: Option<u64>,
}

#[derive(Serialize)]
struct Report {
    folder: String,
    messages: u64,
    bytes: u64,
}

/// The channels of the new bag.
#[derive(Default)]
struct Channels {
    topics: Arc<Topics>,
    /// The new channel for each old channel. The key is the number of the old file and the id of the channel in that
    /// file.
    by_old: HashMap<(usize, u16), Arc<Channel<'static>>>,
    all: Vec<Arc<Channel<'static>>>,
    schemas: Vec<Arc<Schema<'static>>>,
}

impl Arguments {
    /// Makes the new bag.
    ///
    /// # Errors
    /// A bag cannot be read, or the new bag cannot be written.
    pub fn run(self, output: Output) -> Result<()> {
        let mut imported = Vec::new(); // kept until the conversion has ended
        let bags = self.bags.iter().map(|path| self.open(path, &mut imported)).collect::<Result<Vec<Bag>>>()?;
        let files: Vec<&BagFile> = bags.iter().flat_map(|bag| &bag.files).collect();
        let first_ns = bags.iter().filter_map(Bag::times).map(|(start, _)| start).min();
        let first_ns = first_ns.ok_or_else(|| Failure::new("there are no messages to convert"))?;
        let selection = self.topics.selection()?;
        let after = |seconds: f64| first_ns.saturating_add(Duration::from_secs_f64(seconds).as_nanos() as u64);
        let topics = files.iter().flat_map(|file| file.summary.channels.values()).map(|channel| channel.topic.clone());
        let filter = Filter {
            topics: Some(topics.filter(|topic| selection.has(topic)).collect()),
            start_ns: self.start.map(after),
            end_ns: self.end.map(after),
        };
        if filter.topics.as_ref().is_none_or(|topics| topics.is_empty()) {
            return Err(Failure::new("no topic of the bag is selected; `gantry bag info` lists them"));
        }
        let mut channels = Channels::default();
        let max_duration_ns = self.max_bag_duration.map(|seconds| seconds.saturating_mul(1_000_000_000));
        let limits = FileLimits { max_bytes: self.max_bag_size, max_duration_ns };
        let mut bag = BagWriter::create(&self.output, limits, channels.topics.clone())?;
        let (progress, mut due) = (Progress::new(), Instant::now() + REPORT);
        let mut chunk = Chunk::with_capacity(2 * CHUNK_BYTES as usize);
        Messages::new(files.iter().copied(), &filter)?.visit(|message| {
            let channel = channels.channel(&message)?;
            chunk.push(&channel, message.header, Body::Copied(&[], message.data));
            if chunk.bytes() >= CHUNK_BYTES {
                self.write(&mut bag, std::mem::replace(&mut chunk, Chunk::with_capacity(2 * CHUNK_BYTES as usize)))?;
                if Instant::now() >= due {
                    due = Instant::now() + REPORT;
                    progress.show(&channels.report(&self.output.display().to_string()).to_string());
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
        if chunk.messages() > 0 {
            self.write(&mut bag, chunk)?;
        }
        channels.count_drops(&files);
        bag.finish()?;
        progress.clear();
        output.print(&channels.report(&self.output.display().to_string()))
    }

    /// Opens a bag. If its messages are in SQLite files, they are first imported into a temporary bag beside the new
    /// one.
    fn open(&self, path: &Path, imported: &mut Vec<Imported>) -> Result<Bag> {
        let files = sqlite_files(path)?;
        if files.is_empty() {
            return Bag::open(path);
        }
        let folder = PathBuf::from(format!("{}.import_{}", self.output.display(), imported.len()));
        let new = import(&files, folder)?;
        let bag = Bag::open(new.folder());
        imported.push(new);
        bag
    }

    fn write(&self, bag: &mut BagWriter, chunk: Chunk) -> Result<()> {
        let packed = self.compression.pack(chunk).context(|| "a chunk cannot be compressed".to_owned())?;
        let written = bag.write(&packed, Route::PageCache)?;
        written.finished.map_or(Ok(()), |file| file.sync_data()).context(|| "a file cannot be stored".to_owned())
    }
}

impl Channels {
    /// The channel of the new bag for a message. Old channels with the same topic, type and encoding become one
    /// channel, which has the QoS of the first.
    fn channel(&mut self, message: &Message<'_>) -> Result<Arc<Channel<'static>>> {
        let key = (message.file, message.channel.id);
        if let Some(channel) = self.by_old.get(&key) {
            return Ok(channel.clone());
        }
        let old = message.channel;
        let schema = old.schema.as_ref().map(|schema| self.schema(schema)).transpose()?;
        let is_same = |new: &&Arc<Channel<'static>>| {
            let id = |schema: &Option<Arc<Schema<'static>>>| schema.as_ref().map(|schema| schema.id);
            new.topic == old.topic && new.message_encoding == old.message_encoding && id(&new.schema) == id(&schema)
        };
        let channel = match self.all.iter().find(is_same) {
            Some(channel) => channel.clone(),
            None => {
                let id = u16::try_from(self.all.len() + 1);
                let id = id.map_err(|_| "a file has at most 65,535 channels".to_owned())?;
                let channel = Arc::new(Channel { id, schema, ..Channel::clone(old) });
                let topic = Topic {
                    name: channel.topic.clone(),
                    type_name: type_name(&channel).to_owned(),
                    hash: crate::describe::message_type(&channel).rihs01().unwrap_or_default(),
                    ..Topic::default()
                };
                *lock(&topic.offered) = crate::describe::qos_profiles(&channel);
                self.topics.add(id, Arc::new(topic));
                self.all.push(channel.clone());
                channel
            }
        };
        self.by_old.insert(key, channel.clone());
        Ok(channel)
    }

    fn schema(&mut self, old: &Schema<'static>) -> Result<Arc<Schema<'static>>> {
        let is_same = |new: &&Arc<Schema<'static>>| {
            (&new.name, &new.encoding, &new.data) == (&old.name, &old.encoding, &old.data)
        };
        if let Some(schema) = self.schemas.iter().find(is_same) {
            return Ok(schema.clone());
        }
        let id = u16::try_from(self.schemas.len() + 1);
        let id = id.map_err(|_| "a file has at most 65,535 schemas".to_owned())?;
        let schema = Arc::new(Schema { id, ..old.clone() });
        self.schemas.push(schema.clone());
        Ok(schema)
    }

    /// Adds the number of messages that the recorder missed in the old files. The numbers are added completely, even if
    /// only a part of a bag is converted.
    fn count_drops(&self, files: &[&BagFile]) {
        for topic in self.topics.all() {
            let dropped = files.iter().filter_map(|file| file.drops.get(&topic.name)).sum();
            topic.overwritten.store(dropped, Relaxed);
        }
    }

    fn report(&self, folder: &str) -> Report {
        let topics = self.topics.all();
        Report {
            folder: folder.to_owned(),
            messages: topics.iter().map(|topic| topic.messages.load(Relaxed)).sum(),
            bytes: topics.iter().map(|topic| topic.bytes.load(Relaxed)).sum(),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} messages, {}", self.folder, self.messages, bytes(self.bytes))
    }
}
