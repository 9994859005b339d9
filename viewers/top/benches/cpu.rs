//! Measures the CPU time of the live table for 200 topics in 20 processes, each topic with a publisher and a
//! subscription. The program runs in a pseudo-terminal of 200 columns.
//!
//! `cargo bench --bench cpu -- [--seconds N] [--topics N] [--world]`. With `--world`, only the 20 processes run, until
//! Ctrl-C, so that the table can be tried by hand.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on may panic")]

use gantry::{Node, Qos, TypeDescription};
use rustix::{
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Winsize, tcsetwinsize},
};
use std::{
    fs::{self, File},
    io::Read,
    os::fd::OwnedFd,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// The environment variable that makes this program one of the 20 processes. Its value is the number of the process and
/// its number of topics.
const PROCESS: &str = "TOP_BENCH_PROCESS";
const DOMAIN: u32 = 201;
const PROCESSES: usize = 20;
/// The time between two messages of a topic.
const PERIOD: Duration = Duration::from_millis(20);

fn main() {
    if let Ok(plan) = std::env::var(PROCESS) {
        let (number, topics) = plan.split_once(' ').unwrap();
        return talk(number.parse().unwrap(), topics.parse().unwrap());
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |name: &str, default: usize| {
        let at = arguments.iter().position(|argument| argument == name);
        at.map_or(default, |at| arguments[at + 1].parse().unwrap())
    };
    let (seconds, topics) = (number("--seconds", 30), number("--topics", 200));
    let start = |number| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.env(PROCESS, format!("{number} {}", topics / PROCESSES)).spawn().unwrap()
    };
    let mut world: Vec<Child> = (0..PROCESSES).map(start).collect();
    thread::sleep(Duration::from_secs(2)); // time for all processes to join the domain
    match arguments.iter().any(|argument| argument == "--world") {
        true => _ = world[0].wait(),
        false => {
            for interval in ["1", "0.2"] {
                let cpu = measure(Duration::from_secs(seconds as u64), interval);
                eprintln!("{topics} topics, a look each {interval} s: {:.3} % of a core", cpu * 100.0);
            }
        }
    }
    world.iter_mut().for_each(|child| _ = child.kill());
    world.iter_mut().for_each(|child| _ = child.wait());
}

/// Runs one of the 20 processes: a node that publishes topics, and subscribes to the topics of the previous process.
fn talk(number: usize, topics: usize) {
    let node = Node::builder(&format!("node_{number}")).domain_id(DOMAIN).build().unwrap();
    let of_type =
        || TypeDescription { name: "test_msgs/msg/Bytes".into(), payload_bytes: 1 << 20, ..TypeDescription::default() };
    let name = |process: usize, topic: usize| format!("/robot_{process}/topic_{topic}");
    let before = (number + PROCESSES - 1) % PROCESSES;
    let mut publishers: Vec<_> = (0..topics)
        .map(|topic| node.create_generic_publisher(&name(number, topic), of_type(), Qos::default()).unwrap())
        .collect();
    let mut subscriptions: Vec<_> = (0..topics)
        .map(|topic| node.create_generic_subscription(&name(before, topic), of_type(), Qos::default()).unwrap())
        .collect();
    let mut due = Instant::now();
    for round in 0.. {
        for (index, publisher) in publishers.iter_mut().enumerate() {
            publisher.publish_copy(&vec![0; 64 << (index % 8)]).unwrap();
        }
        for (index, subscription) in subscriptions.iter_mut().enumerate() {
            // The subscription to the last topic takes only once a second, and so loses messages.
            while (index + 1 < topics || round % 50 == 0) && subscription.take().unwrap().is_some() {}
        }
        due += PERIOD;
        thread::sleep(due.saturating_duration_since(Instant::now()));
        if std::os::unix::process::parent_id() == 1 {
            return; // the parent process was killed
        }
    }
}

/// Returns the CPU time that `gantry-top` uses within `time`, as a share of one core.
fn measure(time: Duration, interval: &str) -> f64 {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let slave: OwnedFd = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap().into();
    tcsetwinsize(&slave, Winsize { ws_row: 60, ws_col: 200, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let end = || Stdio::from(slave.try_clone().unwrap());
    let mut program = Command::new(env!("CARGO_BIN_EXE_gantry-top"))
        .args(["--domain-id", &DOMAIN.to_string(), "--interval", interval])
        .stdin(end())
        .stdout(end())
        .spawn()
        .unwrap();
    drop(slave);
    let mut reader = File::from(master);
    thread::spawn(move || {
        let mut bytes = [0; 1 << 16];
        while reader.read(&mut bytes).is_ok_and(|count| count > 0) {}
    });
    thread::sleep(Duration::from_secs(2)); // time to start and map the files
    let cpu = || cpu_seconds(program.id());
    let (before, begin) = (cpu(), Instant::now());
    thread::sleep(time);
    let used = (cpu() - before) / begin.elapsed().as_secs_f64();
    program.kill().unwrap();
    program.wait().unwrap();
    used
}

/// Reads the CPU time of a process from the scheduler's statistics, in seconds.
fn cpu_seconds(pid: u32) -> f64 {
    let text = fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap();
    text.split_whitespace().next().unwrap().parse::<f64>().unwrap() / 1e9
}
