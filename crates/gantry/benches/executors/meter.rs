//! The meter: each callback reports to it that a message came, and how old it was.
//!
//! Callbacks of a multi-threaded executor report at the same time. CPU time is read at the first message of a turn and at the last one:
//! the time that executors need to begin and to end is not counted. It is that of the process without the engine's control thread, which looks
//! at all endpoints once a second, whatever happens: a turn in which it does would look far worse than the next.

use crate::Result;
use gantry::{Canceler, SampleInfo};
use rustix::time::{ClockId, clock_gettime};
use std::{
    path::PathBuf,
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering::*},
    },
    time::{Duration, Instant},
};

/// How long a thread may take to begin.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most messages of a turn.
const MOST: usize = 400;

/// The reports of a turn's callbacks.
pub struct Meter {
    /// How many messages make the turn; 0 between turns.
    expected: AtomicUsize,
    delivered: AtomicUsize,
    latencies_ns: Vec<AtomicU64>,
    first_cpu_ns: AtomicU64,
    last_cpu_ns: AtomicU64,
    /// The scheduler's account of the control thread.
    control: PathBuf,
    end: Mutex<End>,
    ended: Condvar,
}

#[derive(Default)]
struct End {
    is_over: bool,
    canceler: Option<Canceler>,
}

/// The result of a turn.
pub struct Turn {
    /// Messages that were published.
    pub published: usize,
    /// From the publisher's stamp to the callback, ns, of each message that was delivered.
    pub latencies_ns: Vec<u64>,
    /// CPU time of the executor's threads for each message, ns.
    pub cpu_ns: f64,
}

impl Meter {
    /// Of this process, which has joined a domain.
    pub fn new() -> Result<Meter> {
        let since = Instant::now();
        // A thread gives itself its name, when it has begun to run.
        let control = loop {
            match thread_named("gantry-control")? {
                Some(task) => break task.join("schedstat"),
                None if since.elapsed() < PATIENCE => std::thread::yield_now(),
                None => {
                    return Err("there is no control thread whose CPU time could be told from the executors'".into());
                }
            }
        };
        Ok(Meter {
            expected: AtomicUsize::new(0),
            delivered: AtomicUsize::new(0),
            latencies_ns: (0..MOST).map(|_| AtomicU64::new(0)).collect(),
            first_cpu_ns: AtomicU64::new(0),
            last_cpu_ns: AtomicU64::new(0),
            control,
            end: Mutex::default(),
            ended: Condvar::new(),
        })
    }

    /// A turn of so many messages begins, at whose end this executor is stopped.
    pub fn begin(&self, expected: usize, canceler: Option<Canceler>) {
        *self.end() = End { is_over: false, canceler };
        self.delivered.store(0, Relaxed);
        self.expected.store(expected, Release);
    }

    /// A callback got this message. A message left from another turn is not counted.
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
            self.first_cpu_ns.store(self.cpu_ns(), Relaxed);
        }
        if place + 1 == expected {
            self.stop();
        }
    }

    /// The turn is over: all came, or nothing comes any more.
    pub fn stop(&self) {
        let mut end = self.end();
        if !std::mem::replace(&mut end.is_over, true) {
            self.last_cpu_ns.store(self.cpu_ns(), Relaxed);
            end.canceler.take().iter().for_each(Canceler::cancel);
            self.ended.notify_all();
        }
    }

    /// Whether it is.
    pub fn is_over(&self) -> bool {
        self.end().is_over
    }

    /// Stops the turn if it is not over within that time.
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
        Turn { published, latencies_ns, cpu_ns }
    }

    /// Of all threads but one; of that one, too, if the kernel does not say.
    fn cpu_ns(&self) -> u64 {
        let control = std::fs::read_to_string(&self.control).unwrap_or_default();
        let control_ns: u64 = control.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or_default();
        ns(ClockId::ProcessCPUTime).saturating_sub(control_ns)
    }

    fn end(&self) -> MutexGuard<'_, End> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The kernel's folder of a thread of this process.
fn thread_named(name: &str) -> Result<Option<PathBuf>> {
    for task in std::fs::read_dir("/proc/self/task")? {
        let task = task?.path();
        if std::fs::read_to_string(task.join("comm"))?.trim_end() == name {
            return Ok(Some(task));
        }
    }
    Ok(None)
}

/// The time of a clock.
pub fn ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
