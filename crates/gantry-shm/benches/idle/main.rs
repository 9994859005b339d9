//! `cargo bench -p gantry-shm --bench idle`: what sleeping readers cost, which should be about nothing.
//!
//! For whoever changes how threads wait or how deaths are noticed. 100 readers sleep in [`Subscription::wait`]: all in one
//! process, then each in a process of its own; both alone and beside a publisher at 100 Hz on another topic. Readers and
//! publisher are this program, started again; their CPU time is the kernel's own accounting, which asks them nothing
//! (`usage`). Options: `--seconds N`, how long each row is measured.

mod usage;

use gantry_shm::{Participant, Publisher, PublisherOptions, Qos, SourceTime, Subscription, TypeDescription};
use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, Command, ExitCode, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};
use usage::Usage;

/// An error is a sentence.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const READERS: usize = 100;
/// Measuring time of a row if nothing is asked for.
const SECONDS: f64 = 10.0;
/// PendingConnection is over by then, and so are sleepers' short first slices.
const SETTLE: Duration = Duration::from_secs(8);
const PUBLISH_PERIOD: Duration = Duration::from_millis(10);
const PAYLOAD_BYTES: usize = 64;
const CHILD: &str = "--child";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words[..] {
        [CHILD, "readers", root, count] => {
            count.parse().map_err(Into::into).and_then(|count| sleep(root.as_ref(), count))
        }
        [CHILD, "publisher", root] => publish(root.as_ref()),
        _ => seconds(&words).and_then(measure),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("idle: {error}");
            ExitCode::FAILURE
        }
    }
}

fn seconds(words: &[&str]) -> Result<f64> {
    let mut words: Vec<&str> = words.to_vec();
    words.retain(|&word| word != "--bench"); // cargo says this to every benchmark
    match words[..] {
        [] => Ok(SECONDS),
        ["--seconds", value] => {
            let seconds = value.parse().ok().filter(|seconds| (0.5..=3600.0).contains(seconds));
            seconds.ok_or_else(|| format!("--seconds takes a number from 0.5 to 3600, not {value:?}").into())
        }
        _ => Err(format!("the only option is --seconds N; {words:?} means nothing").into()),
    }
}

fn measure(seconds: f64) -> Result<()> {
    let time = Duration::from_secs_f64(seconds);
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
            readers.push(Player::start("readers", root.path(), &[&(READERS / processes).to_string()])?);
        }
        let [alone] = rates(time, [&readers])?;
        print(&mut out, &format!("{READERS} readers {what}"), alone)?;
        let publisher = [Player::start("publisher", root.path(), &[])?];
        let [beside, publisher] = rates(time, [&readers, &publisher])?;
        print(&mut out, "  beside a publisher at 100 Hz elsewhere", beside)?;
        print(&mut out, "  that publisher's process", publisher)?;
    }
    Ok(())
}

/// What each group of processes used while we waited for `time`.
fn rates<const N: usize>(time: Duration, groups: [&[Player]; N]) -> Result<[Usage; N]> {
    let look = || -> Result<Vec<Usage>> {
        let of_group = |group: &&[Player]| group.iter().map(|player| Usage::of(player.0.id())).sum::<Result<Usage>>();
        groups.iter().map(of_group).collect()
    };
    std::thread::sleep(SETTLE);
    let (start, before) = (Instant::now(), look()?);
    std::thread::sleep(time);
    let (elapsed, after) = (start.elapsed(), look()?);
    Ok(std::array::from_fn(|group| after[group].since(before[group]).per_second(elapsed)))
}

fn print(out: &mut impl Write, what: &str, rate: Usage) -> Result<()> {
    let Usage { cpu_ms, control_ms, wakes } = rate;
    Ok(writeln!(out, "{what:44} {cpu_ms:8.2} {:10.3} {wakes:8.0} {control_ms:14.2}", cpu_ms / 10.0)?)
}

/// A process that plays a role; killed when dropped.
struct Player(Child);

impl Player {
    /// ReturnedSlots when it is ready.
    fn start(role: &str, root: &Path, arguments: &[&str]) -> Result<Player> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args([CHILD, role]).arg(root).args(arguments);
        let mut player = Player(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?);
        let output = player.0.stdout.take().ok_or("a child has no output")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        if line != "ready\n" {
            return Err(format!("a child that should play {role} says {line:?}").into());
        }
        Ok(player)
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        // It may be gone.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Role: so many threads, each asleep on a subscription of its own.
fn sleep(root: &Path, count: usize) -> Result<()> {
    let participant = Participant::join_under(root, 0)?;
    for _ in 0..count {
        let mut subscription =
            Subscription::new(participant.clone(), "/sleeper", "/quiet", message_type(), Qos::default())?;
        subscription.wait(Duration::from_millis(1))?; // so that its waiter is set up
        std::thread::spawn(move || while subscription.wait(Duration::MAX).is_ok() {});
    }
    ready_until_told()
}

/// Role: publishes to nobody.
fn publish(root: &Path) -> Result<()> {
    let participant = Participant::join_under(root, 0)?;
    let mut publisher = publisher(participant)?;
    std::thread::spawn(move || {
        let mut next = Instant::now();
        while let Ok(loan) = publisher.loan(PAYLOAD_BYTES)
            && publisher.publish(loan, SourceTime::default()).is_ok()
        {
            next += PUBLISH_PERIOD;
            std::thread::sleep(next.saturating_duration_since(Instant::now()));
        }
    });
    ready_until_told()
}

fn publisher(participant: Arc<Participant>) -> Result<Publisher> {
    let (qos, options) = (Qos::default(), PublisherOptions::default());
    Ok(Publisher::new(participant, "/talker", "/elsewhere", message_type(), qos, options)?)
}

fn message_type() -> TypeDescription {
    TypeDescription {
        name: "bench_msgs/msg/Bytes".into(),
        hash: [0; 32],
        definition: format!("byte[{PAYLOAD_BYTES}] data"),
        payload_bytes: PAYLOAD_BYTES,
    }
}

fn ready_until_told() -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "ready")?;
    out.flush()?;
    std::io::stdin().lock().lines().for_each(drop);
    Ok(())
}
