//! `gantry bag play`: publishes the messages of bags.

mod ahead;
mod clock;
mod keys;
mod outlet;
mod player;
mod progress;
mod schedule;

use crate::read::{Bag, BagFile, Filter, Messages};
use ahead::{Ahead, Next};
use clap::Args;
use clock::ClockPublisher;
use gantry::{Node, with_signals_blocked};
use gantry_command::{
    Context, Failure, Output, Result, TopicOptions, hidden_node, say,
    text::{bytes, parse_seconds, seconds},
};
use gantry_shm::set_time_slice;
use keys::{Control, HELP, Keys};
use outlet::{Outlet, Outlets};
use player::Player;
use progress::PlayProgress;
use schedule::Schedule;
pub use schedule::{monotonic_ns, sharpen_sleeps, sleep_until};
use serde::Serialize;
use std::{
    fmt,
    ops::ControlFlow,
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

/// The longest time until a key or Ctrl-C takes effect.
const SLICE: Duration = Duration::from_millis(20);

/// The options of `play`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Folders of bags, or MCAP files; several are played together
    #[arg(required = true)]
    bags: Vec<PathBuf>,
    /// The speed: the number of seconds of the bag that are played per second; 0 means as fast as possible. Otherwise,
    /// up to 64 MiB of the next messages are in memory before they are due
    #[arg(short, long, value_name = "FACTOR", default_value_t = 1.0, allow_negative_numbers = true, value_parser = rate)]
    rate: f64,
    /// Play again from the start when the end is reached
    #[arg(short = 'l', long = "loop")]
    is_looped: bool,
    /// Skip this number of seconds at the beginning of the bag; earlier latched messages are published at once
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, allow_negative_numbers = true, value_parser = parse_seconds)]
    start_offset: f64,
    #[command(flatten)]
    topics: TopicOptions,
    /// Publish a topic under another name, such as /scan:=/old/scan; may be repeated
    #[arg(short = 'm', long, value_name = "FROM:=TO", num_args = 1.., value_parser = remapping)]
    remap: Vec<(String, String)>,
    /// Publish the time in the bag on /clock, this number of times per second [default: no clock; without HZ, 40]
    #[arg(
        long,
        value_name = "HZ",
        allow_negative_numbers = true,
        num_args = 0..=1,
        default_missing_value = "40",
        value_parser = frequency
    )]
    clock: Option<f64>,
    /// Start paused
    #[arg(short = 'p', long)]
    start_paused: bool,
    /// Do not read keys
    #[arg(long)]
    disable_keyboard_controls: bool,
    /// First wait for this number of matched subscriptions on each topic, with --clock also on /clock
    #[arg(short = 'w', long, value_name = "N", allow_negative_numbers = true, default_value_t = 0)]
    wait_matching_subscriptions: usize,
}

#[derive(Serialize)]
struct Report {
    messages: u64,
    bytes: u64,
    duration_ns: u64,
    bytes_per_s: f64,
    /// The number of messages that were not published.
    skipped: u64,
    /// The longest delay of a message after its due time, in nanoseconds.
    latest_ns: u64,
}

impl Arguments {
    /// Plays the bags.
    ///
    /// # Errors
    /// A bag cannot be read, or the domain cannot be joined.
    pub fn run(self, domain_id: Option<u32>, output: Output) -> Result<()> {
        let bags = self.bags.iter().map(|path| Bag::open(path)).collect::<Result<Vec<Bag>>>()?;
        let files: Vec<&BagFile> = bags.iter().flat_map(|bag| &bag.files).collect();
        let times = bags.iter().filter_map(Bag::times).reduce(|all, bag| (all.0.min(bag.0), all.1.max(bag.1)));
        let Some((start_ns, end_ns)) = times else { return Err(Failure::new("there are no messages to play")) };
        let start_ns = start_ns.saturating_add(Duration::from_secs_f64(self.start_offset).as_nanos() as u64);
        if start_ns > end_ns {
            let most = seconds(end_ns - times.unwrap_or_default().0);
            return Err(Failure::new(format!("--start-offset is after the end: the bag has {most}")));
        }
        let node = hidden_node("bag", domain_id)?;
        let mut outlets = self.outlets(&node, &files)?;
        if outlets.is_empty() {
            return Err(Failure::new("no topic of the bag is selected; `gantry bag info` lists them"));
        }
        let mut clock = self.clock.map(|rate_hz| ClockPublisher::new(&node, rate_hz)).transpose()?;
        if !self.wait_for_subscriptions(outlets.all(), clock.as_mut())? {
            return Ok(());
        }
        let control = Control::new(self.start_paused);
        let keys = if self.disable_keyboard_controls { None } else { Keys::read(control.clone()) };
        if keys.is_some() && !output.json {
            say(HELP);
        }
        let player = Player::new(&outlets, Schedule::new(self.rate, start_ns), control, clock);
        self.play((player, &outlets), &files, (start_ns, end_ns), output)
    }

    /// Creates publishers for the channels that are selected.
    fn outlets(&self, node: &Node, files: &[&BagFile]) -> Result<Outlets> {
        let selection = self.topics.selection()?;
        let mut outlets = Outlets::default();
        for (file, bag_file) in files.iter().enumerate() {
            for channel in bag_file.summary.channels.values().filter(|channel| selection.has(&channel.topic)) {
                let renamed = self.remap.iter().find(|(from, _)| *from == channel.topic);
                let topic = renamed.map_or(&channel.topic, |(_, to)| to);
                outlets.add(node, topic, (file, channel))?;
            }
        }
        Ok(outlets)
    }

    /// Waits for matched subscriptions. Returns `false` if the program shuts down.
    fn wait_for_subscriptions(&self, outlets: &mut [Outlet], clock: Option<&mut ClockPublisher>) -> Result<bool> {
        let (count, period) = (self.wait_matching_subscriptions, Duration::from_secs(1));
        for outlet in outlets {
            let topic = outlet.publisher().topic().to_owned();
            wait(count, &topic, || Ok(outlet.publisher().wait_for_subscriptions(count, period)?))?;
        }
        if let Some(clock) = clock {
            wait(count, "/clock", || clock.wait_for_subscriptions(count, period))?;
        }
        Ok(gantry::ok())
    }

    fn play(
        &self,
        (mut player, outlets): (Player<'_>, &Outlets),
        files: &[&BagFile],
        (start_ns, end_ns): (u64, u64),
        output: Output,
    ) -> Result<()> {
        sharpen_sleeps();
        let (topics, latched) = outlets.topics();
        let (start, mut progress) = (Instant::now(), PlayProgress::new(!output.json, (start_ns, end_ns)));
        loop {
            if self.start_offset > 0.0 && !latched.is_empty() {
                let before = Filter { topics: Some(latched.clone()), start_ns: None, end_ns: Some(start_ns) };
                Messages::new(files.iter().copied(), &before)?.visit(|message| {
                    player.publish(&message);
                    Ok(if gantry::ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
                })?;
            }
            let filter = Filter { topics: Some(topics.clone()), start_ns: Some(start_ns), end_ns: None };
            let messages = Messages::new(files.iter().copied(), &filter)?;
            if self.rate > 0.0 {
                self.play_ahead(messages, (&mut player, outlets), start_ns, &mut progress)?;
            } else {
                player.restart(start_ns);
                messages.visit(|message| {
                    let flow = player.play(&message)?;
                    progress.update(&player);
                    Ok(flow)
                })?;
            }
            if !self.is_looped || !gantry::ok() {
                break;
            }
        }
        progress.clear();
        let (played, elapsed) = (player.played(), start.elapsed());
        output.print(&Report {
            messages: played.messages,
            bytes: played.bytes,
            duration_ns: elapsed.as_nanos() as u64,
            bytes_per_s: played.bytes as f64 / elapsed.as_secs_f64().max(1e-9),
            skipped: player.skipped(),
            latest_ns: played.latest_ns,
        })
    }

    /// Plays messages that another thread reads ahead.
    fn play_ahead(
        &self,
        messages: Messages<'_>,
        (player, outlets): (&mut Player<'_>, &Outlets),
        start_ns: u64,
        progress: &mut PlayProgress,
    ) -> Result<()> {
        let ahead = &Ahead::new(start_ns, self.rate);
        let read = || {
            let _end = ahead.reading();
            let _ = set_time_slice(Duration::ZERO); // the player preempts this thread; an error only delays messages
            messages.visit(|message| {
                let Some(outlet) = outlets.get(message.file, message.channel.id) else {
                    return Ok(ControlFlow::Continue(()));
                };
                let (time_ns, bytes) = (message.header.log_time, message.data.len());
                Ok(ahead.push(time_ns, bytes, || Next {
                    outlet,
                    time_ns,
                    bytes,
                    data: outlet.read_ahead(message.data),
                }))
            })
        };
        thread::scope(|scope| {
            let thread = thread::Builder::new().name("bag-read".to_owned());
            let reader = with_signals_blocked(|| thread.spawn_scoped(scope, read));
            let reader = reader.context(|| "no thread can be started".to_owned())?;
            let end = ahead.playing();
            ahead.wait_until_full();
            player.restart(start_ns);
            while let Some(next) = ahead.pop() {
                if player.play_next(next)?.is_break() {
                    break;
                }
                progress.update(player);
            }
            drop(end);
            reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }
}

/// Calls `are_matched`, which may wait for a while, until it returns `true` or the program shuts down. After the first
/// `false`, prints the reason for the wait.
fn wait(count: usize, topic: &str, mut are_matched: impl FnMut() -> Result<bool>) -> Result<()> {
    let mut is_said = false;
    while gantry::ok() && !are_matched()? {
        if !std::mem::replace(&mut is_said, true) {
            say(format_args!("waiting for {count} matched subscriptions on {topic}"));
        }
    }
    Ok(())
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (size, duration) = (bytes(self.bytes), seconds(self.duration_ns));
        let rate = bytes(self.bytes_per_s as u64);
        let latest_us = self.latest_ns / 1000;
        write!(f, "{} messages, {size} in {duration} ({rate}/s), at most {latest_us} µs late", self.messages)?;
        if self.skipped > 0 {
            write!(f, ", {} not published", self.skipped)?;
        }
        Ok(())
    }
}

fn rate(text: &str) -> std::result::Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| (0.0..=1e6).contains(number));
    number.ok_or_else(|| format!("'{text}' is not a number from 0 to 1000000"))
}

fn frequency(text: &str) -> std::result::Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| (0.001..=10_000.0).contains(number));
    number.ok_or_else(|| format!("'{text}' is not a number from 0.001 to 10000"))
}

fn remapping(text: &str) -> std::result::Result<(String, String), String> {
    let (from, to) = text.split_once(":=").unwrap_or_default();
    match from.starts_with('/') && to.starts_with('/') {
        true => Ok((from.to_owned(), to.to_owned())),
        false => Err(format!("'{text}' is not FROM:=TO with full names, as /scan:=/old/scan")),
    }
}
