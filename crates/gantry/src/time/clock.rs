//! Clocks for timers: the system's steady clock, or a manual one (simulated time, tests).

use crate::wait::lock;
use rustix::time::{ClockId, clock_gettime};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::*},
    },
    task::Waker,
    time::{Duration, Instant, SystemTime},
};

/// A clock; clones are the same clock.
#[derive(Clone, Debug)]
pub struct Clock(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Steady,
    Manual(Arc<Manual>),
}

#[derive(Debug, Default)]
struct Manual {
    now_ns: AtomicU64,
    /// Wakers to be called when the clock is set.
    waiting: Mutex<Vec<Waker>>,
}

impl Clock {
    /// The steady clock, CLOCK_MONOTONIC: it never steps.
    #[must_use]
    pub fn steady() -> Clock {
        Clock(Kind::Steady)
    }

    /// A manual clock that shows `now` until [`Clock::set`].
    #[must_use]
    pub fn manual(now: Duration) -> Clock {
        let manual = Manual { now_ns: AtomicU64::new(in_ns(now)), waiting: Mutex::default() };
        Clock(Kind::Manual(Arc::new(manual)))
    }

    /// The time since the clock's beginning.
    ///
    /// # Real-time
    /// No allocation, lock or system call (vDSO).
    #[must_use]
    pub fn now(&self) -> Duration {
        Duration::from_nanos(self.now_ns())
    }

    /// Sets a manual clock and wakes the threads that wait for its time; `false` for the steady clock, which cannot be
    /// set.
    pub fn set(&self, now: Duration) -> bool {
        let Kind::Manual(manual) = &self.0 else { return false };
        manual.now_ns.store(in_ns(now), Release);
        let waiting = std::mem::take(&mut *lock(&manual.waiting));
        waiting.into_iter().for_each(Waker::wake);
        true
    }

    #[inline]
    pub(crate) fn now_ns(&self) -> u64 {
        match &self.0 {
            Kind::Steady => monotonic_ns(),
            Kind::Manual(manual) => manual.now_ns.load(Acquire),
        }
    }

    /// The CLOCK_MONOTONIC time at which the clock will show `time_ns`; `None` for a manual clock, see
    /// [`Clock::wake_when_set`].
    pub(crate) fn due_ns(&self, time_ns: u64) -> Option<u64> {
        matches!(self.0, Kind::Steady).then_some(time_ns)
    }

    /// Calls `waker` once, when the manual clock is set.
    pub(crate) fn wake_when_set(&self, waker: &Waker) {
        if let Kind::Manual(manual) = &self.0 {
            let mut waiting = lock(&manual.waiting);
            if !waiting.iter().any(|other| other.will_wake(waker)) {
                waiting.push(waker.clone());
            }
        }
    }
}

/// The time of day, with which ROS 2 stamps messages; `header.stamp = gantry::now().into()`.
///
/// # Real-time
/// No allocation, lock or system call (vDSO).
#[must_use]
pub fn now() -> SystemTime {
    SystemTime::now()
}

/// CLOCK_MONOTONIC.
#[inline]
pub(crate) fn monotonic_ns() -> u64 {
    read(ClockId::Monotonic)
}

#[inline]
pub(crate) fn read(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
}

/// Nanoseconds, saturating at 584 years.
pub(crate) fn in_ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// A limit of a QoS: without one, `u64::MAX`.
pub(crate) fn limit_ns(limit: Option<Duration>) -> u64 {
    limit.map_or(u64::MAX, in_ns)
}

/// The time until the deadline; `Duration::MAX` without one.
pub(crate) fn remaining(deadline: Option<Instant>) -> Duration {
    deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()))
}
