//! `gantry bag record`.

mod discovery;
mod disk;
mod progress;
mod recorder;
mod selection;

use crate::{
    error::{Context, Result},
    output::{Output, Progress, say},
    text::parse_bytes,
    topics::{Topics, lock},
    write::{BagWriter, Compression, FileLimits},
};
use clap::Args;
use discovery::{Discovery, Mailbox};
use disk::Disk;
use gantry::{Collector, Node, with_signals_blocked};
use progress::Reports;
use recorder::Recorder;
use selection::SelectionOptions;
use std::{
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
    thread,
    time::{Duration, Instant},
};

/// The time between two reports.
const REPORT: Duration = Duration::from_secs(1);

/// The options of `record`.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    selection: SelectionOptions,
    /// The folder of the bag, which is made [default: rosbag2_ and the time]
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Begin another file before this one has more bytes, as 2G
    #[arg(short = 'b', long, value_name = "BYTES", value_parser = parse_bytes)]
    max_bag_size: Option<u64>,
    /// Begin another file after this number of seconds
    #[arg(short = 'd', long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    max_bag_duration: Option<u64>,
    /// The most memory for messages that wait for a slow disk; beyond it the oldest messages of a publisher are dropped and
    /// counted
    #[arg(long, value_name = "BYTES", default_value = "256M", value_parser = parse_bytes)]
    max_cache_size: u64,
    /// Compress the messages
    #[arg(long, value_enum, default_value_t, visible_alias = "compression-format")]
    compression: Compression,
    /// The threads that compress [default: half of the processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    compression_threads: Option<u16>,
    /// End after this number of seconds [default: at Ctrl-C]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    duration: Option<u64>,
}

impl Arguments {
    /// Records until the program is asked to end.
    ///
    /// # Errors
    /// The domain cannot be joined, or the bag cannot be made or completed.
    pub fn run(self, domain_id: Option<u32>, output: Output) -> Result<()> {
        // The limit of a file's size is an error of the write, and no reason to die.
        let is_too_large = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(signal_hook::consts::SIGXFSZ, is_too_large)
            .context(|| "signals cannot be handled".to_owned())?;
        let node = node(domain_id)?;
        let topics = Arc::new(Topics::default());
        let mut discovery = Discovery::new(node.clone(), self.selection.selection(&node)?, topics.clone())?;
        let folder = self.output.clone().unwrap_or_else(default_folder);
        let max_duration_ns = self.max_bag_duration.map(|seconds| seconds.saturating_mul(1_000_000_000));
        let limits = FileLimits { max_bytes: self.max_bag_size, max_duration_ns };
        let bag = BagWriter::create(&folder, limits, topics.clone())?;
        let collector = Collector::new(&node)?;
        let (bell, mailbox) = (collector.bell(), Mailbox::default());
        let disk = Disk::start(bag, (self.compression, self.threads()), bell.clone())?;
        lock(&mailbox).extend(discovery.look()?);
        for name in discovery.absent() {
            say(format_args!("{name} has no publisher yet; it is recorded from its first one on"));
        }
        let of_thread = mailbox.clone();
        let thread = thread::Builder::new().name("bag-discovery".to_owned());
        with_signals_blocked(|| thread.spawn(move || discovery.run(&of_thread, || bell.ring())))
            .context(|| "no thread can be started".to_owned())?;
        let may_pin = self.compression == Compression::None;
        let recorder = Recorder::new(collector, mailbox, disk, may_pin, self.max_cache_size);
        self.record(recorder, Reports::new(folder.display().to_string()), &topics, output)
    }

    fn record(&self, mut recorder: Recorder, mut reports: Reports, topics: &Topics, output: Output) -> Result<()> {
        let (progress, start) = (Progress::new(), Instant::now());
        let end = self.duration.and_then(|seconds| start.checked_add(Duration::from_secs(seconds)));
        let mut due = start + REPORT;
        say("recording; Ctrl-C ends it");
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
        let result = recorder.end();
        output.print(&reports.summary(topics))?;
        result
    }

    fn threads(&self) -> usize {
        let half = || thread::available_parallelism().map_or(1, |count| count.get().div_ceil(2));
        self.compression_threads.map_or_else(half, usize::from)
    }
}

/// The hidden node of a command.
fn node(domain_id: Option<u32>) -> Result<Node> {
    gantry::init_with_arguments([])?;
    let builder = Node::builder(&format!("_gantry_bag_{}", std::process::id())).use_global_arguments(false);
    let builder = match domain_id {
        Some(id) => builder.domain_id(id),
        None => builder,
    };
    Ok(builder.build()?)
}

/// As rosbag2 names bags, in UTC.
fn default_folder() -> PathBuf {
    let now = gantry::SourceTime::now().wall_ns;
    let text: String = crate::text::utc(now).chars().take(19).collect();
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
