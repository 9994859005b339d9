//! Measures the cost of the recorder. It measures a publisher's publish calls without a subscription, with one that
//! polls, and with a recorder, in turn; the rate and the CPU time of recording, also of another recorder in turn; the
//! rate of playing; and the lateness of played messages, compared with the lateness of plain sleeps.
//!
//! `cargo bench --bench recorder -- [publisher|record|play] [--seconds N] [--rounds N] [--beside COMMAND]`. The bag is
//! in the folder for temporary files (`TMPDIR`). `COMMAND` is another recorder of all topics of domain 200. It gets the
//! path of the bag as its last argument, and ends at SIGINT.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on may panic")]

mod reader;
mod recording;
mod talker;

use gantry::{Node, Qos};
use gantry_bag::play::{monotonic_ns, sharpen_sleeps, sleep_until};
use reader::{READER, Reader};
use recording::Recorder;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};
use talker::{TALKER, Talker};

const DOMAIN: u32 = 200;
/// The topics whose publish calls are measured.
const MEASURED: &str = "/control:256:1000 /camera:1000000:60";
/// The topics of the measurement of recording: ten topics of 20 MB/s each.
const RECORDED: &str = "/c0:1000000:20 /c1:1000000:20 /c2:1000000:20 /c3:1000000:20 /c4:1000000:20 /c5:1000000:20 \
                        /c6:1000000:20 /c7:1000000:20 /c8:1000000:20 /c9:1000000:20";
/// The topic that is played. Its played times are compared with its recorded times.
const PLAYED: &str = "/control:256:500";

fn main() {
    if let Ok(plan) = std::env::var(TALKER) {
        return talker::talk(&plan);
    }
    if let Ok(topics) = std::env::var(READER) {
        return reader::read(&topics);
    }
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let value = |name: &str| {
        let index = arguments.iter().position(|argument| argument == name)?;
        Some(arguments[index + 1].as_str())
    };
    let has = |part: &str| {
        let parts = ["publisher", "record", "play"];
        let named = arguments.iter().any(|argument| parts.contains(&argument.as_str()));
        !named || arguments.iter().any(|argument| argument == part)
    };
    let number = |name: &str, default: u64| value(name).map_or(default, |number| number.parse().unwrap());
    let (seconds, rounds) = (number("--seconds", 10), number("--rounds", 5));
    let directory = tempfile::tempdir().unwrap();
    if has("publisher") {
        measure_publisher(&directory.path().join("publisher"), seconds, rounds);
    }
    if has("record") {
        for round in 0..rounds {
            for other in [Some(None), value("--beside").map(Some)].into_iter().flatten() {
                measure_recording(&directory.path().join("record"), round, seconds, other);
            }
        }
    }
    if has("play") {
        measure_playing(directory.path(), seconds, rounds);
    }
}

/// Prints the durations of publish calls in each round and of all rounds together. The subscription that polls shows
/// the cost of any reader in another process, apart from the recorder's pins and its disk.
fn measure_publisher(bag: &Path, seconds: u64, rounds: u64) {
    let mut all: BTreeMap<(String, &str), Vec<u64>> = BTreeMap::new();
    for round in 0..rounds {
        for turn in 0..3 {
            let turn = (turn + round) % 3;
            let name = ["without a subscription", "with a subscription that polls", "with the recorder"][turn as usize];
            let reader = (turn == 1).then(|| Reader::start(MEASURED));
            let recorder = (turn == 2).then(|| Recorder::start(bag, None));
            for published in Talker::start(MEASURED, seconds, usize::from(turn > 0)).end() {
                let (topic, times) = (published.topic, published.times_ns);
                print_line(&format!("publisher, round {round}, {topic}, {name}: {}", quantiles(times.clone())));
                all.entry((topic, name)).or_default().extend(times);
            }
            recorder.into_iter().for_each(|mut recorder| _ = recorder.end());
            drop(reader);
            let _ = fs::remove_dir_all(bag);
        }
    }
    all.into_iter().for_each(|((topic, name), times)| {
        print_line(&format!("publisher, all rounds, {topic}, {name}: {}", quantiles(times)));
    });
}

fn measure_recording(bag: &Path, round: u64, seconds: u64, other: Option<&str>) {
    let mut recorder = Recorder::start(bag, other);
    let talker = Talker::start(RECORDED, seconds, 1);
    let before = recorder.cpu_s();
    let published = talker.end();
    let after = recorder.end();
    let (numbers, bytes) = recorder.contents();
    let published: u64 = published.iter().map(|topic| topic.count).sum();
    let are_in_order = numbers.values().all(|numbers| numbers.is_sorted_by(|one, next| one < next));
    let recorded: usize = numbers.values().map(Vec::len).sum();
    let [user, system] = [0, 1].map(|mode| 100.0 * (after[mode] - before[mode]) / seconds as f64);
    let name = other.unwrap_or("gantry bag record");
    let rate = bytes as f64 / seconds as f64 / 1e6;
    let cpu = format!("{:.1} % of a core (user {user:.1}, system {system:.1})", user + system);
    print_line(&format!(
        "record, round {round}, {name}: {recorded} of {published} messages, in order: {are_in_order}, {rate:.1} MB/s, \
         CPU {cpu}"
    ));
    fs::remove_dir_all(bag).unwrap();
}

fn measure_playing(directory: &Path, seconds: u64, rounds: u64) {
    let bag = record(&directory.join("bag"), RECORDED, seconds);
    for round in 0..rounds {
        let report = play(&bag, &["-r", "0"]);
        let rate = report["bytes_per_s"].as_f64().unwrap() / 1e9;
        print_line(&format!("play, round {round}: {rate:.2} GB/s of {} bytes", report["bytes"]));
    }
    let times = record(&directory.join("times"), PLAYED, seconds.min(10));
    for round in 0..rounds {
        print_line(&format!("sleeps, round {round}, lateness: {}", lateness_of_sleeps(seconds.min(10))));
        print_line(&format!("play, round {round}, lateness: {}", lateness(&times)));
    }
}

fn record(bag: &Path, plan: &str, seconds: u64) -> PathBuf {
    let mut recorder = Recorder::start(bag, None);
    Talker::start(plan, seconds, 1).end();
    recorder.end();
    bag.to_owned()
}

fn print_line(line: &str) {
    eprintln!("{line}");
}

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gantry-bag"));
    command.args(arguments).args(["--domain-id", &DOMAIN.to_string()]);
    command
}

fn play(bag: &Path, arguments: &[&str]) -> serde_json::Value {
    let mut command = program(&["play", bag.to_str().unwrap(), "--json"]);
    serde_json::from_slice(&command.args(arguments).output().unwrap().stdout).unwrap()
}

/// Plays a bag, and compares the times between its messages with the times between the recorded messages.
fn lateness(bag: &Path) -> String {
    let opened = gantry_bag::read::Bag::open(bag).unwrap();
    let mut recorded = Vec::new();
    let messages = gantry_bag::read::Messages::new(&opened.files, &gantry_bag::read::Filter::default()).unwrap();
    let visited = messages.visit(|message| {
        recorded.push(message.header.log_time);
        Ok(std::ops::ControlFlow::Continue(()))
    });
    visited.unwrap();
    let node = Node::builder("listener").domain_id(DOMAIN).build().unwrap();
    let qos = Qos::default().keep_last(100_000);
    let mut subscription = node.create_generic_subscription("/control", talker::message_type(), qos).unwrap();
    let player = std::thread::spawn({
        let bag = bag.to_owned();
        move || play(&bag, &["-w", "1"])
    });
    let mut played = Vec::new();
    while played.len() < recorded.len() && subscription.wait(Duration::from_secs(10)).unwrap() {
        while let Some(sample) = subscription.take().unwrap() {
            played.push(sample.message_info().source_time_ns);
        }
    }
    player.join().unwrap();
    let after = |times: &[u64]| times.iter().map(|time| time - times[0]).collect::<Vec<u64>>();
    let pairs = after(&recorded).into_iter().zip(after(&played));
    let late: Vec<i64> = pairs.map(|(recorded, played)| played.cast_signed() - recorded.cast_signed()).collect();
    // The first message may also be late, so the least late message is the reference.
    let earliest = late.iter().min().copied().unwrap_or_default();
    quantiles(late.into_iter().map(|late| (late - earliest) as u64).collect())
}

/// Measures the lateness of a thread that only sleeps until the times of the played topic.
fn lateness_of_sleeps(seconds: u64) -> String {
    let thread = std::thread::spawn(move || {
        sharpen_sleeps();
        let hz: u64 = PLAYED.rsplit(':').next().unwrap().parse().unwrap();
        let (begin, period) = (monotonic_ns(), 1_000_000_000 / hz);
        let dues = (1..=seconds * hz).map(|number| begin + number * period);
        let late = dues.map(|due| {
            sleep_until(due);
            monotonic_ns().saturating_sub(due)
        });
        late.collect::<Vec<u64>>()
    });
    quantiles(thread.join().unwrap())
}

/// Formats the quantiles of the times in µs.
fn quantiles(mut times_ns: Vec<u64>) -> String {
    times_ns.sort_unstable();
    let at = |part: f64| times_ns[((times_ns.len() - 1) as f64 * part) as usize] as f64 / 1000.0;
    let (p50, p99, p999, max) = (at(0.5), at(0.99), at(0.999), at(1.0));
    format!("n {}, p50 {p50:.1}, p99 {p99:.1}, p99.9 {p999:.1}, max {max:.1} µs", times_ns.len())
}
