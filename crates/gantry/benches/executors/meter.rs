//! What each callback tells: that its message came, and how old it was.
//!
//! Callbacks of a multi-threaded executor do so at the same time. The process's CPU time is read at the first message of a turn and at
//! the last one: what executors need to begin and to end is not counted.

use gantry::{Canceler, SampleInfo};
use rustix::time::{ClockId, clock_gettime};
use std::{
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering::*},
    },
    time::Duration,
};

/// The most messages of a turn.
const MOST: usize = 2000;

/// What callbacks tell.
pub struct Meter {
    /// How many messages make the turn; 0 between turns.
    expected: AtomicUsize,
    delivered: AtomicUsize,
    latencies_ns: Vec<AtomicU64>,
    first_cpu_ns: AtomicU64,
    last_cpu_ns: AtomicU64,
    end: Mutex<End>,
    ended: Condvar,
}

#[derive(Default)]
struct End {
    is_over: bool,
    canceler: Option<Canceler>,
}

/// What a turn came to.
pub struct Turn {
    /// Messages that were published.
    pub published: usize,
    /// From the publisher's stamp to the callback, ns, of each message that was delivered.
    pub latencies_ns: Vec<u64>,
    /// CPU time of the process for each message, ns.
    pub cpu_ns: f64,
}

impl Default for Meter {
    fn default() -> Meter {
        Meter {
            expected: AtomicUsize::new(0),
            delivered: AtomicUsize::new(0),
            latencies_ns: (0..MOST).map(|_| AtomicU64::new(0)).collect(),
            first_cpu_ns: AtomicU64::new(0),
            last_cpu_ns: AtomicU64::new(0),
            end: Mutex::default(),
            ended: Condvar::new(),
        }
    }
}

impl Meter {
    /// A turn of so many messages begins, at whose end this executor is stopped.
    pub fn begin(&self, expected: usize, canceler: Option<Canceler>) {
        *self.end() = End { is_over: false, canceler };
        self.delivered.store(0, Relaxed);
        self.expected.store(expected, Release);
    }

    /// A callback got this. What was left from another turn is not counted.
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
            self.first_cpu_ns.store(ns(ClockId::ProcessCPUTime), Relaxed);
        }
        if place + 1 == expected {
            self.stop();
        }
    }

    /// The turn is over: all came, or nothing comes any more.
    pub fn stop(&self) {
        let mut end = self.end();
        if !std::mem::replace(&mut end.is_over, true) {
            self.last_cpu_ns.store(ns(ClockId::ProcessCPUTime), Relaxed);
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

    /// What came of the turn.
    pub fn result(&self) -> Turn {
        let published = self.expected.swap(0, Relaxed);
        let latencies_ns: Vec<u64> =
            self.latencies_ns[..self.delivered.load(Relaxed).min(MOST)].iter().map(|slot| slot.load(Relaxed)).collect();
        let cpu_ns = self.last_cpu_ns.load(Relaxed).saturating_sub(self.first_cpu_ns.load(Relaxed));
        let cpu_ns = cpu_ns as f64 / latencies_ns.len().saturating_sub(1).max(1) as f64;
        Turn { published, latencies_ns, cpu_ns }
    }

    fn end(&self) -> MutexGuard<'_, End> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a clock says.
pub fn ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
