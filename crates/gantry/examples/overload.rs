//! Executors whose callbacks are slower than their input: memory stays bounded, losses are counted, and timers
//! continue. Run it with `cargo run --release -p gantry --example overload`.
//!
//! Each executor runs for a minute in its own process, all at the same time. The program exits with 1 and an error if
//! one executor breaks these rules. Each of four topics has 2000 messages of 4 KiB per second. One topic is RELIABLE
//! and KEEP_ALL, so that its publisher waits. Each callback sleeps for 2 ms.
//!
//! The output has the number of messages that a full queue dropped, the number that the history overwrote, and the
//! number of a timer's ticks.

#![expect(clippy::print_stdout, reason = "this is a program")]

mod common;

use clap::{Parser, ValueEnum};
use gantry::{
    CallbackGroupType, EngineError, EventsExecutor, Executor, ExecutorHandle, MultiThreadedExecutor, Node, Overflow,
    PlainMessage, Publisher, PublisherOptions, Qos, SingleThreadedExecutor, Tick,
};
use std::{
    error::Error,
    fs,
    process::{Child, Command, ExitCode},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

const CALLBACK: Duration = Duration::from_millis(2);
/// The number of messages of a burst on each topic.
const BURST: u32 = 10;
/// The time from one burst to the next.
const BURST_PERIOD: Duration = Duration::from_millis(5);
const TIMER_PERIOD: Duration = Duration::from_millis(10);
/// The capacity of the executors' queues, and the depth of the history at which the KEEP_ALL publisher waits.
const QUEUE: usize = 100;
/// The growth of memory that is allowed after the warm-up.
const MAX_GROWTH_KIB: u64 = 4096;
/// The longest allowed time without a tick: many times the time that the callbacks of a full queue take.
const MAX_SILENCE: Duration = Duration::from_secs(2);

/// Runs executors whose callbacks are slower than their input.
#[derive(Parser)]
struct Arguments {
    /// Duration of the run in seconds
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(2..=86_400))]
    seconds: u64,
    /// Executor to run [default: each, in a process of its own]
    #[arg(long)]
    executor: Option<Kind>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    SingleThreaded,
    MultiThreaded,
    EventsWait,
    EventsDropOldest,
    EventsDropNewest,
}

#[derive(Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
struct Load {
    number: u64,
    data: [u64; 511],
}

impl PlainMessage for Load {
    const TYPE_NAME: &'static str = "overload/msg/Load";
    const DEFINITION: &'static str = "uint64 number\nuint64[511] data\n";
}

type Failure = Box<dyn Error + Send + Sync>;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    common::report(match arguments.executor {
        Some(kind) => run(kind, Duration::from_secs(arguments.seconds)),
        None => run_each(arguments.seconds),
    })
}

/// Runs each executor in a process of its own.
fn run_each(seconds: u64) -> Result<(), Failure> {
    let start = |kind: &Kind| -> Result<Child, Failure> {
        let name = kind.to_possible_value().ok_or("an executor has no name")?;
        let arguments = ["--executor", name.get_name(), "--seconds", &seconds.to_string()];
        Ok(Command::new(std::env::current_exe()?).args(arguments).spawn()?)
    };
    let children: Vec<_> = Kind::value_variants().iter().map(start).collect();
    let mut failed = 0;
    for child in children {
        failed += usize::from(!child?.wait()?.success());
    }
    if failed > 0 { Err(format!("{failed} executors failed, see above").into()) } else { Ok(()) }
}

/// The counts of callbacks and publishers.
#[derive(Default)]
struct Counts {
    published: AtomicU64,
    /// The number of messages that could not be published, because the subscription had not yet taken enough
    /// messages.
    refused: AtomicU64,
    delivered: AtomicU64,
    /// The number of overwritten messages of each topic.
    overwritten: [AtomicU64; 4],
    ticks: Mutex<Vec<Tick>>,
    is_over: AtomicBool,
}

fn run(kind: Kind, duration: Duration) -> Result<(), Failure> {
    let (node, counts) = (Node::new("overload")?, Arc::new(Counts::default()));
    let mut executor = AnyExecutor::new(kind);
    executor.get().add_node(&node)?;
    let start_kib = memory_kib()?;
    let mut publishers = (0..4).map(|topic| listen(&node, kind, topic, &counts)).collect::<Result<Vec<_>, _>>()?;
    let (count, expected) = (counts.clone(), duration.as_nanos() / TIMER_PERIOD.as_nanos());
    ticks_of(&counts).reserve(expected as usize * 2); // now, so that this memory does not count as growth
    node.create_timer_with_callback(TIMER_PERIOD, move |tick| ticks_of(&count).push(tick))?;
    for publisher in &mut publishers {
        publisher.wait_for_subscriptions(1, Duration::from_secs(10))?;
    }
    let floods: Vec<_> = publishers
        .into_iter()
        .map(|publisher| {
            let counts = counts.clone();
            thread::spawn(move || flood(publisher, &counts))
        })
        .collect();
    let (canceler, ends) = (executor.get().handle(), counts.clone());
    let control = thread::spawn(move || watch(duration, floods, &ends, &canceler));
    executor.get().spin()?;
    let (warm_kib, end_kib) = control.join().map_err(|_| "the measuring thread panicked")??;
    // Runs the callbacks of the remaining messages.
    while executor.get().spin_some(Duration::MAX)? > 0 {}
    check(kind, &counts, executor.dropped(), [start_kib, warm_kib, end_kib])
}

/// Adds a callback that is too slow for its topic, and returns the topic's publisher.
fn listen(node: &Node, kind: Kind, topic: usize, counts: &Arc<Counts>) -> gantry::Result<Publisher<Load>> {
    let name = format!("overload/{}/topic_{topic}", format!("{kind:?}").to_lowercase());
    let qos = if topic == 0 { Qos::default().keep_all() } else { Qos::default() };
    let (subscription, counts) = (node.create_subscription::<Load>(&name, qos)?, counts.clone());
    let group = node.create_callback_group(CallbackGroupType::MutuallyExclusive);
    group.add_callback(subscription, move |subscription, _| {
        thread::sleep(CALLBACK);
        counts.delivered.fetch_add(1, Relaxed);
        counts.overwritten[topic].store(subscription.overwritten(), Relaxed);
    });
    let options = PublisherOptions { max_kept_samples: QUEUE, ..PublisherOptions::default() };
    node.create_publisher_with_options(&name, qos, options)
}

fn flood(mut publisher: Publisher<Load>, counts: &Counts) -> Result<(), Failure> {
    let mut number = 0;
    while !counts.is_over.load(Relaxed) {
        for _ in 0..BURST {
            number += 1;
            let mut loan = publisher.loan()?;
            *loan = Load { number, data: [number; 511] };
            match publisher.publish(loan).map_err(gantry::Error::from) {
                Ok(_) => counts.published.fetch_add(1, Relaxed),
                Err(gantry::Error::Engine(EngineError::PublishTimeout { .. })) => counts.refused.fetch_add(1, Relaxed),
                Err(error) => return Err(error.into()),
            };
        }
        thread::sleep(BURST_PERIOD);
    }
    Ok(())
}

/// Ends the publishers, and then the executor, after the run's duration. Returns the process's memory after the warm-up
/// and at the end.
fn watch(
    duration: Duration,
    floods: Vec<JoinHandle<Result<(), Failure>>>,
    counts: &Counts,
    canceler: &ExecutorHandle,
) -> Result<(u64, u64), Failure> {
    let begin = Instant::now();
    thread::sleep(duration / 4);
    let warm_kib = memory_kib();
    thread::sleep(duration.saturating_sub(begin.elapsed()));
    let end_kib = memory_kib();
    counts.is_over.store(true, Relaxed);
    let ended: Vec<_> = floods.into_iter().map(JoinHandle::join).collect();
    canceler.cancel();
    for flood in ended {
        flood.map_err(|_| "a publisher panicked")??;
    }
    Ok((warm_kib?, end_kib?))
}

fn check(kind: Kind, counts: &Counts, dropped: u64, memory_kib: [u64; 3]) -> Result<(), Failure> {
    let [published, refused, delivered] =
        [&counts.published, &counts.refused, &counts.delivered].map(|count| count.load(Relaxed));
    let overwritten: u64 = counts.overwritten.iter().map(|count| count.load(Relaxed)).sum();
    let ticks = ticks_of(counts);
    let overruns: u64 = ticks.iter().map(|tick| tick.overruns).sum();
    let silence = ticks.windows(2).map(|pair| pair[1].noticed - pair[0].noticed).max().unwrap_or(Duration::MAX);
    let [start, warm, end] = memory_kib.map(|kib| kib as f64 / 1024.0);
    println!(
        "{kind:?}: {published} published = {delivered} delivered + {overwritten} overwritten + {dropped} dropped; {refused} were refused; \
         {} ticks + {overruns} overruns, at most {} ms apart; memory {start:.1} MiB at the start, {warm:.1} after the warm-up, {end:.1} at the end",
        ticks.len(),
        silence.as_millis(),
    );
    if published != delivered + overwritten + dropped {
        return Err(format!(
            "{kind:?}: of {published} published messages, {} are accounted for",
            delivered + overwritten + dropped
        )
        .into());
    }
    if published < 2 * delivered {
        return Err(format!("{kind:?}: {published} messages are no overload: {delivered} were delivered").into());
    }
    if memory_kib[2] > memory_kib[1] + MAX_GROWTH_KIB {
        return Err(format!("{kind:?}: memory grew from {warm:.1} to {end:.1} MiB after the warm-up").into());
    }
    if silence > MAX_SILENCE {
        return Err(format!(
            "{kind:?}: the timer had no tick for {} ms; {} ms are allowed",
            silence.as_millis(),
            MAX_SILENCE.as_millis()
        )
        .into());
    }
    let periods = ticks
        .last()
        .zip(ticks.first())
        .map_or(0, |(last, first)| (last.scheduled - first.scheduled).as_nanos() / TIMER_PERIOD.as_nanos() + 1);
    let counted = ticks.len() as u64 + overruns - ticks.last().map_or(0, |last| last.overruns);
    if periods != u128::from(counted) {
        return Err(format!("{kind:?}: {periods} periods passed, but {counted} ticks and overruns were counted").into());
    }
    Ok(())
}

fn ticks_of(counts: &Counts) -> MutexGuard<'_, Vec<Tick>> {
    counts.ticks.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Resident memory of this process, shared memory included.
fn memory_kib() -> Result<u64, Failure> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("/proc/self/status has no VmRSS")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

/// An executor of any kind.
enum AnyExecutor {
    Single(SingleThreadedExecutor),
    Multi(MultiThreadedExecutor),
    Events(EventsExecutor),
}

impl AnyExecutor {
    fn new(kind: Kind) -> AnyExecutor {
        let events = |overflow| AnyExecutor::Events(EventsExecutor::with_queue(QUEUE, overflow));
        match kind {
            Kind::SingleThreaded => AnyExecutor::Single(SingleThreadedExecutor::new()),
            Kind::MultiThreaded => AnyExecutor::Multi(MultiThreadedExecutor::new()),
            Kind::EventsWait => events(Overflow::Wait),
            Kind::EventsDropOldest => events(Overflow::DropOldest),
            Kind::EventsDropNewest => events(Overflow::DropNewest),
        }
    }

    fn get(&mut self) -> &mut dyn Executor {
        match self {
            AnyExecutor::Single(executor) => executor,
            AnyExecutor::Multi(executor) => executor,
            AnyExecutor::Events(executor) => executor,
        }
    }

    fn dropped(&self) -> u64 {
        if let AnyExecutor::Events(executor) = self { executor.dropped() } else { 0 }
    }
}
