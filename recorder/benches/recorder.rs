//! Measures the cost of the recorder. It measures a publisher's publish calls with and without a recorder, in turn; the
//! rate and the CPU time of recording; the rate of playing; and the lateness of played messages, compared with the
//! lateness of plain sleeps.
//!
//! `cargo bench --bench recorder -- [publisher|record|play] [--seconds N] [--rounds N]`. The bag is in the folder for
//! temporary files (`TMPDIR`).

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on may panic")]

use gantry::{Node, Qos, TypeDescription};
use gantry_bag::play::{monotonic_ns, sharpen_sleeps, sleep_until};
use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// The environment variable that makes this program a publisher (talker). Its value has the number of seconds, and the
/// topics as NAME:BYTES:HZ.
const TALKER: &str = "BAG_BENCH_TALKER";
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
        return talk(&plan);
    }
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let number = |name: &str, default: u64| {
        let at = arguments.iter().position(|argument| argument == name);
        at.map_or(default, |at| arguments[at + 1].parse().unwrap())
    };
    let has = |part: &str| {
        let parts = ["publisher", "record", "play"];
        let named = arguments.iter().any(|argument| parts.contains(&argument.as_str()));
        !named || arguments.iter().any(|argument| argument == part)
    };
    let (seconds, rounds) = (number("--seconds", 10), number("--rounds", 5));
    let directory = tempfile::tempdir().unwrap();
    if has("publisher") {
        for round in 0..rounds {
            for is_recorded in [round % 2 == 0, round % 2 != 0] {
                let recorder = is_recorded.then(|| Recorder::start(&directory.path().join("publisher")));
                let name = if is_recorded { "with the recorder" } else { "without" };
                let lines = run_talker(MEASURED, seconds);
                lines.iter().for_each(|line| print_line(&format!("publisher, round {round}, {name}: {line}")));
                recorder.into_iter().for_each(|recorder| print_line(&format!("  {}", recorder.end())));
                let _ = fs::remove_dir_all(directory.path().join("publisher"));
            }
        }
    }
    let bag = directory.path().join("bag");
    if has("record") || has("play") {
        let recorder = Recorder::start(&bag);
        run_talker(RECORDED, seconds);
        print_line(&format!("record: {}", recorder.end()));
    }
    if has("play") {
        for round in 0..rounds {
            let report = play(&bag, &["-r", "0"]);
            let rate = report["bytes_per_s"].as_f64().unwrap() / 1e9;
            print_line(&format!("play, round {round}: {rate:.2} GB/s of {} bytes", report["bytes"]));
        }
        let times = directory.path().join("times");
        let recorder = Recorder::start(&times);
        run_talker(PLAYED, seconds.min(10));
        recorder.end();
        for round in 0..rounds {
            print_line(&format!("sleeps, round {round}, lateness: {}", lateness_of_sleeps(seconds.min(10))));
            print_line(&format!("play, round {round}, lateness: {}", lateness(&times)));
        }
    }
}

fn print_line(line: &str) {
    eprintln!("{line}");
}

/// A running recorder of all topics.
struct Recorder {
    child: Child,
    begin: Instant,
}

impl Recorder {
    fn start(bag: &Path) -> Recorder {
        let mut command = program(&["record", "--all", "--json", "-o", bag.to_str().unwrap()]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().contains("recording")));
        std::thread::spawn(move || lines.for_each(drop));
        Recorder { child, begin: Instant::now() }
    }

    /// Ends the recorder. Returns its counts and its CPU time as text.
    fn end(mut self) -> String {
        let elapsed = self.begin.elapsed().as_secs_f64();
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        // The fields after the program's name are split, because the name may have spaces. utime and stime are in
        // hundredths of a second.
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        let cpu_s = (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0;
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        let lines = BufReader::new(self.child.stdout.take().unwrap()).lines();
        let summary: serde_json::Value = serde_json::from_str(&lines.map_while(Result::ok).last().unwrap()).unwrap();
        self.child.wait().unwrap();
        let (messages, rate) = (&summary["messages"], summary["bytes"].as_f64().unwrap() / elapsed / 1e6);
        let (dropped, cpu) = (&summary["dropped"], 100.0 * cpu_s / elapsed);
        format!("{messages} messages, {rate:.1} MB/s, CPU {cpu:.1} % of a core, dropped {dropped}")
    }
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
    let mut subscription = node.create_generic_subscription("/control", blob(), qos).unwrap();
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

fn blob() -> TypeDescription {
    let (name, definition) = ("recorder_bench/msg/Blob".into(), "uint8[] data\n".into());
    TypeDescription { name, definition, payload_bytes: usize::MAX, ..TypeDescription::default() }
}

fn run_talker(plan: &str, seconds: u64) -> Vec<String> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = command.env(TALKER, format!("{seconds} {plan}")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// Publishes messages as `plan` states, and prints the durations of `publish`. They include the wake-up of readers.
fn talk(plan: &str) {
    let mut words = plan.split_whitespace();
    let end = Duration::from_secs(words.next().unwrap().parse().unwrap());
    let node = Node::builder("talker").domain_id(DOMAIN).build().unwrap();
    let threads = words.map(|word| {
        let parts: Vec<&str> = word.split(':').collect();
        let (topic, bytes, hz) = (parts[0].to_owned(), parts[1].parse::<usize>().unwrap(), parts[2].parse::<f64>());
        let mut publisher = node.create_generic_publisher(&topic, blob(), Qos::default()).unwrap();
        let period = Duration::from_secs_f64(1.0 / hz.unwrap());
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(500)); // time for the recorder to find the topic
            let (begin, mut due, mut times) = (Instant::now(), Instant::now(), Vec::new());
            while begin.elapsed() < end {
                std::thread::sleep(due.saturating_duration_since(Instant::now()));
                due += period;
                let before = Instant::now();
                let mut loan = publisher.loan(bytes).unwrap();
                let loaned = before.elapsed();
                loan.bytes_mut()[..4].copy_from_slice(&(bytes as u32 - 4).to_le_bytes());
                let before = Instant::now();
                publisher.publish(loan).unwrap();
                times.push((loaned + before.elapsed()).as_nanos() as u64);
            }
            format!("{topic}: {}", quantiles(times))
        })
    });
    let threads: Vec<_> = threads.collect();
    for thread in threads {
        let line = thread.join().unwrap();
        let mut stdout = std::io::stdout().lock();
        std::io::Write::write_all(&mut stdout, format!("{line}\n").as_bytes()).unwrap();
    }
}

/// Formats the quantiles of the times in µs.
fn quantiles(mut times_ns: Vec<u64>) -> String {
    times_ns.sort_unstable();
    let at = |part: f64| times_ns[((times_ns.len() - 1) as f64 * part) as usize] as f64 / 1000.0;
    let (p50, p99, p999, max) = (at(0.5), at(0.99), at(0.999), at(1.0));
    format!("n {}, p50 {p50:.1}, p99 {p99:.1}, p99.9 {p999:.1}, max {max:.1} µs", times_ns.len())
}
