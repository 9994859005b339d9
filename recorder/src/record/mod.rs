//! `gantry bag record`: records topics into a bag.

mod chunks;
mod clock;
mod discovery;
mod disk;
mod numbers;
mod packers;
mod pins;
mod progress;
mod publishers;
mod recorder;
mod snapshot;
mod sources;
mod storing;

use crate::{
    progress::Progress,
    topics::Topics,
    write::{BagWriter, Compression, FileLimits},
};
use chunks::Chunks;
use clap::Args;
use discovery::{Discovery, Mailbox};
use disk::Disk;
use gantry::{Collector, Node};
use gantry_command::{
    Context, Failure, Output, Result, Selection, hidden_node, say, spawn,
    text::{bytes, parse_bytes, parse_seconds},
};
use progress::Reports;
use recorder::Recorder;
use snapshot::{Ring, Triggers};
use std::{
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
    thread,
    time::{Duration, Instant},
};

/// The time between two progress reports.
const REPORT: Duration = Duration::from_secs(1);

/// The options of `record`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The topics, such as /scan; they may appear later
    topics: Vec<String>,
    /// Record all topics except hidden ones, including topics that appear later
    #[arg(short, long)]
    all: bool,
    /// Add the topics whose full name matches this regular expression, such as '^/camera/'
    #[arg(short = 'e', long, value_name = "REGEX")]
    regex: Option<String>,
    /// Do not record topics whose full name matches this regular expression; may be repeated
    #[arg(short = 'x', long, value_name = "REGEX", visible_alias = "exclude-regex")]
    exclude: Vec<String>,
    /// With --all and --regex: also record hidden topics, whose names have a part that begins with _
    #[arg(long)]
    include_hidden_topics: bool,
    /// The folder of the new bag [default: rosbag2_ and the time]
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Begin a new file before the current one has more bytes than this, without its indexes, such as 2G
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
    /// The largest memory for messages that wait for a slow disk, and for copies that are written; beyond it, the
    /// oldest messages of each publisher are dropped and counted
    #[arg(
        long,
        value_name = "BYTES",
        allow_negative_numbers = true,
        visible_alias = "max-cache",
        default_value = "256M",
        value_parser = parse_bytes
    )]
    max_cache_size: u64,
    /// Compress the messages
    #[arg(long, value_enum, default_value_t, visible_alias = "compression-format")]
    compression: Compression,
    /// The number of threads that compress [default: half of the processors]
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        requires = "compression",
        value_parser = clap::value_parser!(u16).range(1..=256)
    )]
    compression_threads: Option<u16>,
    /// Keep the last seconds in memory, and write them to a new file each time the service /gantry_bag/snapshot is
    /// called or SIGUSR1 arrives
    #[arg(long)]
    snapshot: bool,
    /// With --snapshot: the number of seconds before the call that are written, limited by --max-cache-size
    #[arg(
        long,
        value_name = "SECONDS",
        allow_negative_numbers = true,
        requires = "snapshot",
        default_value_t = 10.0,
        value_parser = parse_seconds
    )]
    before: f64,
    /// With --snapshot: the number of seconds after the call that are also recorded
    #[arg(
        long,
        value_name = "SECONDS",
        allow_negative_numbers = true,
        requires = "snapshot",
        default_value_t = 0.0,
        value_parser = parse_seconds
    )]
    after: f64,
    /// Stop after this number of seconds [default: at Ctrl-C]
    #[arg(
        long,
        value_name = "SECONDS",
        allow_negative_numbers = true,
        value_parser = clap::value_parser!(u64).range(1..)
    )]
    duration: Option<u64>,
}

impl Arguments {
    /// Records until a signal, the duration or an error ends the recording.
    ///
    /// # Errors
    /// The domain cannot be joined, or the bag cannot be created or completed.
    pub fn run(self, domain_id: Option<u32>, output: Output) -> Result<()> {
        if self.compression == Compression::None && self.compression_threads.is_some() {
            return Err(Failure::new("--compression-threads needs --compression lz4 or zstd"));
        }
        // With a handler for SIGXFSZ, a write beyond the file size limit fails. Without it, the signal would kill the
        // process.
        let is_too_large = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(signal_hook::consts::SIGXFSZ, is_too_large)
            .context(|| "signals cannot be handled".to_owned())?;
        let node = hidden_node("bag", domain_id)?;
        let topics = Arc::new(Topics::default());
        let mailbox = Mailbox::default();
        let mut discovery = Discovery::new(node.clone(), self.selection(&node)?, topics.clone(), mailbox.clone())?;
        let folder = self.output.clone().unwrap_or_else(default_folder);
        let max_duration_ns = self.max_bag_duration.map(|seconds| seconds.saturating_mul(1_000_000_000));
        let limits = FileLimits { max_bytes: self.max_bag_size, max_duration_ns };
        let bag = BagWriter::create(&folder, limits, topics.clone())?;
        let mut collector = Collector::new(&node)?;
        let triggers = self.snapshot.then(|| self.triggers(&node, &mut collector, &folder)).transpose()?;
        let bell = collector.bell();
        let disk = Disk::start(bag, (self.compression, self.threads()), bell.clone())?;
        discovery.look()?;
        for name in discovery.absent() {
            say(format_args!("{name} has no publisher yet; it is recorded from its first one on"));
        }
        spawn("bag-discovery", move || discovery.run(|| bell.ring()))?;
        let may_pin = self.compression == Compression::None;
        let mut chunks = Chunks::new(disk, may_pin, self.max_cache_size);
        if let Some(bytes) = self.max_bag_size {
            chunks = chunks.for_files_of(bytes);
        }
        if self.snapshot {
            let [before, after] = [self.before, self.after].map(Duration::from_secs_f64);
            chunks = chunks.for_snapshots(Ring::new(before, after, self.max_cache_size));
        }
        let recorder = Recorder::new(collector, mailbox, chunks, triggers);
        self.record(recorder, Reports::new(folder.display().to_string()), &topics, output)
    }

    fn record(&self, mut recorder: Recorder, mut reports: Reports, topics: &Topics, output: Output) -> Result<()> {
        // Even after an error, the samples that were already taken are written, and the file is completed.
        let recorded = self.record_until_end(&mut recorder, &mut reports, topics, output);
        let ended = recorder.end();
        let printed = output.print(&reports.summary(topics));
        match (recorded, ended) {
            // The reader of standard output may have closed it, which is no error. Only errors of the bag are returned.
            (Err(Failure::BrokenPipe), ended) => ended,
            (recorded, ended) => recorded.and(ended).and(printed),
        }
    }

    fn record_until_end(
        &self,
        recorder: &mut Recorder,
        reports: &mut Reports,
        topics: &Topics,
        output: Output,
    ) -> Result<()> {
        let (progress, start) = (Progress::new(), Instant::now());
        let end = self.duration.and_then(|seconds| start.checked_add(Duration::from_secs(seconds)));
        let mut due = start + REPORT;
        match self.snapshot {
            true => say(format_args!("recording into memory, at most {}; Ctrl-C ends it", bytes(self.max_cache_size))),
            false => say("recording; Ctrl-C ends it"),
        }
        while gantry::ok() && end.is_none_or(|end| Instant::now() < end) {
            recorder.step(end.map_or(due, |end| due.min(end)))?;
            if Instant::now() >= due {
                due += REPORT;
                recorder.count_overwritten();
                let report = reports.next(topics, (recorder.disk().file_bytes(), recorder.disk().queued_bytes()));
                match output.json {
                    true => output.print(&report)?,
                    false => progress.show(&report.to_string()),
                }
            }
        }
        progress.clear();
        Ok(())
    }

    fn triggers(&self, node: &Node, collector: &mut Collector, folder: &Path) -> Result<Triggers> {
        let (before, after, folder) = (self.before, self.after, folder.display());
        Triggers::new(node, collector, format!("the last {before} s and the next {after} s go to a file in {folder}"))
    }

    fn selection(&self, node: &Node) -> Result<Selection> {
        if self.topics.is_empty() && !self.all && self.regex.is_none() {
            return Err(Failure::new("no topics: give their names, --all or --regex"));
        }
        let names = self.topics.iter().map(|topic| Ok(node.resolve_topic_name(topic)?)).collect::<Result<_>>()?;
        let selection = Selection::new(names, self.regex.as_deref(), &self.exclude)?;
        Ok(selection.all(self.all).with_hidden(self.include_hidden_topics))
    }

    fn threads(&self) -> usize {
        let half = || thread::available_parallelism().map_or(1, |count| count.get().div_ceil(2));
        self.compression_threads.map_or_else(half, usize::from)
    }
}

/// The default name of a bag's folder, as in rosbag2, with the time in UTC.
fn default_folder() -> PathBuf {
    let now = gantry::SourceTime::now().wall_ns;
    let text: String = gantry_command::text::utc(now).chars().take(19).collect();
    format!("rosbag2_{}", text.replacen(['-'], "_", 2).replace(' ', "-").replace(':', "_")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bag_without_a_name_is_named_by_the_time() {
        let name = default_folder().display().to_string();
        let form: String = name.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
        assert_eq!(form, "rosbag0_0000_00_00-00_00_00");
    }
}
