//! `cargo bench -p gantry-shm --bench idle`: the cost of sleeping readers, which should be nearly zero.
//!
//! 100 readers sleep in [`Subscription::wait`]: first all in one process, then each in a process of its own. Each case
//! is measured without other activity, and beside a publisher at 100 Hz on another topic. Readers and publisher are
//! this program, started again. The kernel gives the CPU time of these processes (`usage`), which costs the processes
//! nothing. `--seconds N` sets the measuring time of a row.

use bench_support::{Benchmark, Options, Process, Result, usage::Usage};
use gantry_shm::{Participant, Publisher, PublisherOptions, Qos, SourceTime, Subscription, TypeDescription};
use std::{
    io::{BufRead, Write},
    path::Path,
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

const READERS: usize = 100;
/// The time until all joins are over and the threads sleep long: a thread first sleeps in short slices, so it wakes up
/// often.
const SETTLE: Duration = Duration::from_secs(8);
const PUBLISH_PERIOD: Duration = Duration::from_millis(10);
const PAYLOAD_BYTES: usize = 64;

const IDLE: Benchmark = Benchmark {
    name: "idle",
    help: "\
Measures the CPU time of sleeping readers.

cargo bench -p gantry-shm --bench idle [-- OPTIONS]

  --seconds N   measure each row for N seconds (default 10)
  --help        print this help
",
    seconds: 10.0,
    quick_seconds: 10.0,
};

fn main() -> ExitCode {
    IDLE.main(play, measure)
}

fn play(role: &[String]) -> Result<()> {
    match role {
        [role, root, count] if role == "readers" => sleep(root.as_ref(), count.parse()?),
        [role, root] if role == "publisher" => publish(root.as_ref()),
        _ => Err(format!("there is no role {role:?}").into()),
    }
}

fn measure(options: &Options) -> Result<()> {
    let (seconds, time) = (options.seconds, Duration::from_secs_f64(options.seconds));
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{READERS} readers asleep in Subscription::wait, {seconds} s each; figures for each second of wall time.\n"
    )?;
    writeln!(out, "{:44} {:>8} {:>10} {:>8} {:>14}", "", "CPU ms", "% of core", "wakes", "control CPU ms")?;
    for (what, processes) in [("in one process", 1), ("in as many processes", READERS)] {
        let root = tempfile::Builder::new().prefix("gantry-idle-").tempdir_in("/dev/shm")?;
        let mut readers = Vec::new();
        for _ in 0..processes {
            readers.push(start("readers", root.path(), &[&(READERS / processes).to_string()])?);
        }
        let [alone] = rates(time, [&readers])?;
        print(&mut out, &format!("{READERS} readers {what}"), alone)?;
        let publisher = [start("publisher", root.path(), &[])?];
        let [beside, publisher] = rates(time, [&readers, &publisher])?;
        print(&mut out, "  beside a publisher at 100 Hz elsewhere", beside)?;
        print(&mut out, "  that publisher's process", publisher)?;
    }
    Ok(())
}

/// Measures the CPU usage of each group of processes while this process waits for `time`.
fn rates<const N: usize>(time: Duration, groups: [&[Process]; N]) -> Result<[Usage; N]> {
    let usages = || -> Result<Vec<Usage>> {
        let of_group =
            |group: &&[Process]| group.iter().map(|process| Usage::of_process(process.id())).sum::<Result<Usage>>();
        groups.iter().map(of_group).collect()
    };
    std::thread::sleep(SETTLE);
    let (start, before) = (Instant::now(), usages()?);
    std::thread::sleep(time);
    let (elapsed, after) = (start.elapsed(), usages()?);
    Ok(std::array::from_fn(|group| after[group].since(before[group]).per_second(elapsed)))
}

fn print(out: &mut impl Write, what: &str, rate: Usage) -> Result<()> {
    let Usage { cpu_ms, control_ms, wakes } = rate;
    Ok(writeln!(out, "{what:44} {cpu_ms:8.2} {:10.3} {wakes:8.0} {control_ms:14.2}", cpu_ms / 10.0)?)
}

/// Starts another process in a role. Returns when the process is ready.
fn start(role: &str, root: &Path, arguments: &[&str]) -> Result<Process> {
    let root = root.to_string_lossy();
    let mut process = Process::start([role, &*root].iter().chain(arguments))?;
    match &*process.line()? {
        "ready" => Ok(process),
        line => Err(format!("a process in the role {role} wrote {line:?} instead of \"ready\"").into()),
    }
}

/// The role of a sleeper: starts `count` threads, each of which sleeps on its own subscription.
fn sleep(root: &Path, count: usize) -> Result<()> {
    let participant = Participant::join_under(root, 0)?;
    for _ in 0..count {
        let mut subscription =
            Subscription::new(participant.clone(), "/sleeper", "/quiet", message_type(), Qos::default())?;
        subscription.wait(Duration::from_millis(1))?; // the first wait reserves a waiter line on the board
        std::thread::spawn(move || while subscription.wait(Duration::MAX).is_ok() {});
    }
    ready_until_input_ends()
}

/// The role of the publisher, which has no reader.
fn publish(root: &Path) -> Result<()> {
    let participant = Participant::join_under(root, 0)?;
    let mut publisher = publisher(participant)?;
    std::thread::spawn(move || {
        let mut next = Instant::now();
        while let Ok(loan) = publisher.loan(PAYLOAD_BYTES)
            && publisher.publish(loan, SourceTime::now()).is_ok()
        {
            next += PUBLISH_PERIOD;
            std::thread::sleep(next.saturating_duration_since(Instant::now()));
        }
    });
    ready_until_input_ends()
}

fn publisher(participant: Arc<Participant>) -> Result<Publisher> {
    let (qos, options) = (Qos::default(), PublisherOptions::default());
    Ok(Publisher::new(participant, "/talker", "/elsewhere", message_type(), qos, options)?)
}

fn message_type() -> TypeDescription {
    TypeDescription {
        name: "bench_msgs/msg/Bytes".into(),
        hash: [0; 32],
        definition: format!("byte[{PAYLOAD_BYTES}] data").into(),
        payload_bytes: PAYLOAD_BYTES,
    }
}

fn ready_until_input_ends() -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "ready")?;
    out.flush()?;
    std::io::stdin().lock().lines().for_each(drop);
    Ok(())
}
