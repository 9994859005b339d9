//! The meter, to which each callback reports its message and the message's age.
//!
//! Callbacks of a multi-threaded executor report at the same time. CPU time is read at the first and at the last
//! message of a turn, so the time to start and end a spin is not counted. The engine's control thread is left out: it
//! checks all endpoints once a second, and a turn with such a check would cost far more than other turns.

use crate::Result;
use gantry::{ExecutorHandle, SampleInfo};
use rustix::time::{ClockId, clock_gettime};
use std::{
    path::PathBuf,
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering::*},
    },
    time::{Duration, Instant},
};

/// The time limit for the start of a thread.
const PATIENCE: Duration = Duration::from_secs(10);
/// The largest number of messages of a turn.
const MOST: usize = 400;

/// The reports of a turn's callbacks.
pub struct Meter {
    /// The number of messages that the turn expects; 0 between turns.
    expected: AtomicUsize,
    delivered: AtomicUsize,
    latencies_ns: Vec<AtomicU64>,
    first_cpu_ns: AtomicU64,
    last_cpu_ns: AtomicU64,
    first_ns: AtomicU64,
    last_ns: AtomicU64,
    /// The path of the control thread's `schedstat` file, which has its CPU time.
    control: PathBuf,
    end: Mutex<End>,
    ended: Condvar,
}

#[derive(Default)]
struct End {
    is_over: bool,
    cancelers: Vec<ExecutorHandle>,
}

/// The result of a turn.
pub struct Turn {
    /// The number of messages that were published.
    pub published: usize,
    /// The latency of each delivered message in ns: the time from the publisher's stamp to the callback.
    pub latencies_ns: Vec<u64>,
    /// The CPU time of the executor's threads for each message, ns.
    pub cpu_ns: f64,
    /// The time in ns from the end of the first callback to the end of the last callback.
    pub wall_ns: u64,
}

impl Meter {
    /// Makes a meter for this process, which must have joined a domain.
    pub fn new() -> Result<Meter> {
        let since = Instant::now();
        // The loop waits for the name of the control thread: a thread sets its own name after it has begun to run.
        let control = loop {
            match thread_named("gantry-control")? {
                Some(task) => break task.join("schedstat"),
                None if since.elapsed() < PATIENCE => std::thread::yield_now(),
                None => {
                    return Err(
                        "there is no control thread whose CPU time could be separated from the executors' time".into(),
                    );
                }
            }
        };
        Ok(Meter {
            expected: AtomicUsize::new(0),
            delivered: AtomicUsize::new(0),
            latencies_ns: (0..MOST).map(|_| AtomicU64::new(0)).collect(),
            first_cpu_ns: AtomicU64::new(0),
            last_cpu_ns: AtomicU64::new(0),
            first_ns: AtomicU64::new(0),
            last_ns: AtomicU64::new(0),
            control,
            end: Mutex::default(),
            ended: Condvar::new(),
        })
    }

    /// Begins a turn of this number of messages; the executors are canceled at its end.
    pub fn begin(&self, expected: usize, cancelers: Vec<ExecutorHandle>) {
        *self.end() = End { is_over: false, cancelers };
        self.delivered.store(0, Relaxed);
        self.expected.store(expected, Release);
    }

    /// Records the message that a callback got. A message of an earlier turn is not counted.
    #[inline]
    pub fn note(&self, info: SampleInfo) {
        let expected = self.expected.load(Acquire);
        if expected == 0 {
            return;
        }
        let latency_ns = ns(ClockId::Monotonic).saturating_sub(info.source_time_ns);
        let place = self.delivered.fetch_add(1, Relaxed);
        if let Some(slot) = self.latencies_ns.get(place) {
            slot.store(latency_ns, Relaxed);
        }
        if place == 0 {
            self.first_ns.store(ns(ClockId::Monotonic), Relaxed);
            self.first_cpu_ns.store(self.cpu_ns(), Relaxed);
        }
        if place + 1 == expected {
            self.stop();
        }
    }

    /// Ends the turn, because all messages arrived or the time limit has passed.
    pub fn stop(&self) {
        let mut end = self.end();
        if !std::mem::replace(&mut end.is_over, true) {
            self.last_cpu_ns.store(self.cpu_ns(), Relaxed);
            self.last_ns.store(ns(ClockId::Monotonic), Relaxed);
            end.cancelers.drain(..).for_each(|canceler| canceler.cancel());
            self.ended.notify_all();
        }
    }

    /// Whether the turn is over.
    pub fn is_over(&self) -> bool {
        self.end().is_over
    }

    /// Waits for the end of the turn, at most for this time, then stops it.
    pub fn stop_after(&self, patience: Duration) {
        drop(self.ended.wait_timeout_while(self.end(), patience, |end| !end.is_over));
        self.stop();
    }

    /// The result of the turn.
    pub fn result(&self) -> Turn {
        let published = self.expected.swap(0, Relaxed);
        let latencies_ns: Vec<u64> =
            self.latencies_ns[..self.delivered.load(Relaxed).min(MOST)].iter().map(|slot| slot.load(Relaxed)).collect();
        let cpu_ns = self.last_cpu_ns.load(Relaxed).saturating_sub(self.first_cpu_ns.load(Relaxed));
        let cpu_ns = cpu_ns as f64 / latencies_ns.len().saturating_sub(1).max(1) as f64;
        let wall_ns = self.last_ns.load(Relaxed).saturating_sub(self.first_ns.load(Relaxed));
        Turn { published, latencies_ns, cpu_ns, wall_ns }
    }

    /// The CPU time of all threads except the control thread. If the kernel has no account of the control thread, its
    /// time is included.
    fn cpu_ns(&self) -> u64 {
        let control = std::fs::read_to_string(&self.control).unwrap_or_default();
        let control_ns: u64 = control.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or_default();
        ns(ClockId::ProcessCPUTime).saturating_sub(control_ns)
    }

    fn end(&self) -> MutexGuard<'_, End> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The folder in `/proc` of the thread of this process with this name.
fn thread_named(name: &str) -> Result<Option<PathBuf>> {
    for task in std::fs::read_dir("/proc/self/task")? {
        let task = task?.path();
        if std::fs::read_to_string(task.join("comm"))?.trim_end() == name {
            return Ok(Some(task));
        }
    }
    Ok(None)
}

/// The time of a clock, in ns.
pub fn ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
