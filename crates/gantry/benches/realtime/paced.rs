//! A control loop: messages at 2 kHz on an absolute schedule, to a reader that sleeps until a message arrives.
//!
//! The sender's thread sleeps until each message is due (CLOCK_MONOTONIC, so that delays do not add up). Neither the
//! sender's nor the reader's thread is a real-time thread, so the figures of all carriers include the delay of the
//! scheduler.

use crate::{
    Result,
    cpus::Cpus,
    queue::{PATIENCE, Receives, Sends},
    stamp,
};
use rustix::{
    thread::{clock_nanosleep_absolute, set_current_timer_slack},
    time::{ClockId, Timespec, clock_gettime},
};
use std::{num::NonZeroU64, sync::Barrier, time::Instant};

const PERIOD_NS: u64 = 500_000;
/// The depth of the history. It is larger than the number of messages of a turn, because on a busy machine the
/// reader may be far behind.
pub const DEPTH: usize = 1024;
/// The number of messages at the start of a turn that are sent without pauses, to fault in pages and allocate slots.
/// They are not measured.
const WARM_UP_AT_ONCE: u64 = 2 * DEPTH as u64;
/// The number of all messages that are not measured, including 30 messages at 2 kHz.
const WARM_UP: u64 = WARM_UP_AT_ONCE + 30;
/// The number of messages of a turn that are measured.
const MESSAGES: u64 = 150;

/// The result of a turn.
pub struct Paced {
    /// The latency of each message in ticks: the time from before it is written until after it is read.
    pub latencies: Vec<u64>,
    /// The time in ticks that the sender spends on each message.
    pub sendings: Vec<u64>,
    /// The CPU time per message in ns: of the sender, of the reader, and of the thread that wakes readers for
    /// asynchronous publishers.
    pub cpu_ns: [f64; 3],
}

/// Measures a turn.
pub fn paced(mut sender: impl Sends, mut receiver: impl Receives, cpus: &Cpus) -> Result<Paced> {
    let second = cpus.second.unwrap_or(cpus.first);
    let start = &Barrier::new(2);
    for number in 1..=WARM_UP_AT_ONCE {
        sender.send(number, 0)?;
        receiver.take()?;
    }
    let waker_ns = thread_cpu_ns("gantry-sender")?;
    std::thread::scope(|scope| {
        let reader = scope.spawn(move || {
            let pinned = Cpus::pin(&[second]);
            start.wait();
            pinned?;
            take_all(receiver)
        });
        start.wait();
        let (sendings, sender_ns) = send_all(&mut sender)?;
        let (latencies, reader_ns) = reader.join().map_err(|_| "the reader panicked")??;
        let waker_ns = thread_cpu_ns("gantry-sender")? - waker_ns;
        let all = (WARM_UP + MESSAGES - WARM_UP_AT_ONCE) as f64;
        Ok(Paced { latencies, sendings, cpu_ns: [sender_ns, reader_ns, waker_ns].map(|ns| ns / all) })
    })
}

fn send_all(sender: &mut impl Sends) -> Result<(Vec<u64>, f64)> {
    // Without this call, the kernel adds 50 µs to each sleep.
    set_current_timer_slack(NonZeroU64::new(1))?;
    let (mut sendings, cpu_ns) = (Vec::with_capacity(MESSAGES as usize), own_cpu_ns()?);
    let now = clock_gettime(ClockId::Monotonic);
    let start_ns = now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64;
    for number in WARM_UP_AT_ONCE + 1..=WARM_UP + MESSAGES {
        let due_ns = start_ns + (number - WARM_UP_AT_ONCE) * PERIOD_NS;
        let due = Timespec { tv_sec: (due_ns / 1_000_000_000) as i64, tv_nsec: (due_ns % 1_000_000_000) as i64 };
        while clock_nanosleep_absolute(ClockId::Monotonic, &due).is_err() {} // a signal ends the sleep early
        let before = stamp::now();
        sender.send(number, before)?;
        let after = stamp::now();
        if number > WARM_UP {
            sendings.push(after - before);
        }
    }
    Ok((sendings, own_cpu_ns()? - cpu_ns))
}

fn take_all(mut receiver: impl Receives) -> Result<(Vec<u64>, f64)> {
    let (mut latencies, cpu_ns) = (Vec::with_capacity(MESSAGES as usize), own_cpu_ns()?);
    let (mut expected, mut last) = (WARM_UP_AT_ONCE + 1, Instant::now());
    while expected <= WARM_UP + MESSAGES {
        receiver.wait()?;
        while let Some((number, sent)) = receiver.take()? {
            let now = stamp::now();
            if number != expected {
                return Err(format!("message {number} came instead of {expected}").into());
            }
            if number > WARM_UP {
                latencies.push(now.saturating_sub(sent));
            }
            (expected, last) = (number + 1, Instant::now());
        }
        if last.elapsed() > PATIENCE {
            return Err(format!("message {expected} did not come within {PATIENCE:?}").into());
        }
    }
    Ok((latencies, own_cpu_ns()? - cpu_ns))
}

/// The CPU time of this thread, by the scheduler's account.
fn own_cpu_ns() -> Result<f64> {
    cpu_ns("/proc/thread-self")
}

/// The CPU time of the thread of this process that has this name; 0 if there is no such thread.
fn thread_cpu_ns(name: &str) -> Result<f64> {
    for task in std::fs::read_dir("/proc/self/task")? {
        let task = task?.path();
        if std::fs::read_to_string(task.join("comm"))?.trim_end() == name {
            return cpu_ns(&task.to_string_lossy());
        }
    }
    Ok(0.0)
}

fn cpu_ns(task: &str) -> Result<f64> {
    let path = format!("{task}/schedstat");
    let text = std::fs::read_to_string(&path).map_err(|why| format!("cannot read {path}: {why}"))?;
    let ns = text.split_whitespace().next().and_then(|word| word.parse().ok());
    ns.ok_or_else(|| format!("{path} has the text {text:?}, which does not begin with a number").into())
}
