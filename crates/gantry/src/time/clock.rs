//! Clocks for timers: the system's steady clock, a manual clock (for tests), and a node's clock, whose time may be
//! simulated.

use crate::wait::lock;
use rustix::time::{ClockId, clock_gettime};
use std::{
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering::*},
    },
    task::Waker,
    time::{Duration, Instant, SystemTime},
};

/// A clock. Clones are handles to the same clock.
#[derive(Clone, Debug)]
pub struct Clock(TimeSource);

#[derive(Clone, Debug)]
enum TimeSource {
    Steady,
    Manual(Arc<Manual>),
    Ros(Arc<RosTime>),
}

/// The time of a node: simulated time, or the time of day. Without simulated time, timers run on the steady clock.
#[derive(Debug, Default)]
struct RosTime {
    is_simulated: AtomicBool,
    /// The simulated time; 0 until the first message on `/clock`.
    simulated: Manual,
    /// The listeners that are notified of jumps. The lock is held during a change.
    listeners: Mutex<Vec<Weak<dyn JumpListener>>>,
}

/// A jump of the time on which timers run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Jump {
    pub(crate) old_ns: u64,
    pub(crate) new_ns: u64,
    /// Whether the source of the time changed, so that a time before the jump cannot be compared with a time after it.
    pub(crate) is_other_source: bool,
}

/// A listener for jumps of a clock: a timer, which must adapt its due time.
pub(crate) trait JumpListener: std::fmt::Debug + Send + Sync {
    /// Adapts the listener to the jump; returns the wakers that the caller must call.
    fn time_jumped(&self, jump: Jump) -> Vec<Waker>;
}

#[derive(Debug, Default)]
struct Manual {
    now_ns: AtomicU64,
    /// The wakers that are called when the clock is set.
    waiting: Mutex<Vec<Waker>>,
}

impl Clock {
    /// Makes the steady clock, CLOCK_MONOTONIC, which never steps.
    #[must_use]
    pub fn steady() -> Clock {
        Clock(TimeSource::Steady)
    }

    /// Makes a manual clock, which shows `now` until a call of [`Clock::set`].
    #[must_use]
    pub fn manual(now: Duration) -> Clock {
        let manual = Manual { now_ns: AtomicU64::new(in_ns(now)), waiting: Mutex::default() };
        Clock(TimeSource::Manual(Arc::new(manual)))
    }

    /// Makes the clock of a node; its time is not simulated yet.
    pub(crate) fn new_ros() -> Clock {
        Clock(TimeSource::Ros(Arc::default()))
    }

    /// The time since the clock's start or, for a node's clock, since 1970.
    ///
    /// # Real-time
    /// No allocation, lock or system call (vDSO).
    #[must_use]
    pub fn now(&self) -> Duration {
        match &self.0 {
            TimeSource::Ros(ros) if ros.is_simulated.load(Acquire) => {
                Duration::from_nanos(ros.simulated.now_ns.load(Acquire))
            }
            // The time of day is read here and not by `now_ns`, which would read another clock if simulated time began
            // or ended meanwhile.
            TimeSource::Ros(_) => now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default(),
            TimeSource::Steady | TimeSource::Manual(_) => Duration::from_nanos(self.now_ns()),
        }
    }

    /// Whether the clock shows simulated time (of the topic `/clock`), because the node's parameter `use_sim_time` is
    /// true.
    #[must_use]
    pub fn ros_time_is_active(&self) -> bool {
        matches!(&self.0, TimeSource::Ros(ros) if ros.is_simulated.load(Acquire))
    }

    /// Begins or ends simulated time. Timers keep their remaining time.
    pub(crate) fn simulate(&self, on: bool) {
        let TimeSource::Ros(ros) = &self.0 else { return };
        let listeners = lock(&ros.listeners);
        if on == ros.is_simulated.load(Acquire) {
            return;
        }
        let old_ns = self.now_ns();
        ros.simulated.now_ns.store(0, Release);
        let new_ns = if on { 0 } else { monotonic_ns() };
        let jump = Jump { old_ns, new_ns, is_other_source: true };
        let wakers = ros.jump(&listeners, jump, || ros.is_simulated.store(on, Release));
        drop(listeners); // unlocks first: a waker may make a timer
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Sets the simulated time of a node's clock, and wakes the threads and tasks that wait for it.
    pub(crate) fn set_simulated(&self, now: Duration) {
        let TimeSource::Ros(ros) = &self.0 else { return };
        let listeners = lock(&ros.listeners);
        let (old_ns, new_ns) = (ros.simulated.now_ns.load(Acquire), in_ns(now));
        let jump = Jump { old_ns, new_ns, is_other_source: old_ns == 0 };
        let mut wakers = Vec::new();
        if ros.is_simulated.load(Acquire) && (jump.is_other_source || new_ns < old_ns) {
            wakers = ros.jump(&listeners, jump, || ros.simulated.now_ns.store(new_ns, Release));
        }
        ros.simulated.now_ns.store(new_ns, Release);
        drop(listeners); // unlocks first: a waker may make a timer
        wakers.into_iter().for_each(Waker::wake);
        ros.simulated.wake();
    }

    /// Registers a timer for the jumps of a node's clock.
    pub(crate) fn add_listener(&self, listener: Weak<dyn JumpListener>) {
        let TimeSource::Ros(ros) = &self.0 else { return };
        let mut listeners = lock(&ros.listeners);
        listeners.retain(|other| other.strong_count() > 0);
        listeners.push(listener);
    }

    /// Sets a manual clock and wakes the threads that wait for its time. Returns `false` for other clocks, which this
    /// method cannot set.
    pub fn set(&self, now: Duration) -> bool {
        let TimeSource::Manual(manual) = &self.0 else { return false };
        manual.now_ns.store(in_ns(now), Release);
        manual.wake();
        true
    }

    #[inline]
    pub(crate) fn now_ns(&self) -> u64 {
        match &self.0 {
            TimeSource::Steady => monotonic_ns(),
            TimeSource::Manual(manual) => manual.now_ns.load(Acquire),
            TimeSource::Ros(ros) if ros.is_simulated.load(Acquire) => ros.simulated.now_ns.load(Acquire),
            TimeSource::Ros(_) => monotonic_ns(),
        }
    }

    /// The CLOCK_MONOTONIC time at which the clock will show `time_ns`; `None` for a manual or simulated clock, for
    /// which [`Clock::wake_when_set`] is used.
    pub(crate) fn due_ns(&self, time_ns: u64) -> Option<u64> {
        self.settable().is_none().then_some(time_ns)
    }

    fn settable(&self) -> Option<&Manual> {
        match &self.0 {
            TimeSource::Manual(manual) => Some(manual),
            TimeSource::Ros(ros) => ros.is_simulated.load(Acquire).then_some(&ros.simulated),
            TimeSource::Steady => None,
        }
    }

    /// Calls `waker` once, when the manual or simulated clock is set.
    pub(crate) fn wake_when_set(&self, waker: &Waker) {
        if let Some(manual) = self.settable() {
            let mut waiting = lock(&manual.waiting);
            if !waiting.iter().any(|other| other.will_wake(waker)) {
                waiting.push(waker.clone());
            }
        }
    }
}

impl Manual {
    /// Wakes the threads and tasks that wait for the clock, because it was set.
    fn wake(&self) {
        let waiting = std::mem::take(&mut *lock(&self.waiting));
        waiting.into_iter().for_each(Waker::wake);
    }
}

impl RosTime {
    /// Makes a jump and notifies the timers. The caller calls the returned wakers after it has released its locks. So
    /// that no timer becomes due by mistake, an earlier time is set before the timers are notified, and a later time
    /// afterwards.
    fn jump(&self, listeners: &[Weak<dyn JumpListener>], jump: Jump, set: impl FnOnce()) -> Vec<Waker> {
        let tell =
            || listeners.iter().filter_map(Weak::upgrade).flat_map(|listener| listener.time_jumped(jump)).collect();
        if jump.new_ns < jump.old_ns {
            set();
            tell()
        } else {
            let wakers = tell();
            set();
            wakers
        }
    }
}

/// The time of day. ROS 2 stamps messages with it: `header.stamp = gantry::now().into()`.
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

/// CLOCK_MONOTONIC_COARSE: at most a few milliseconds behind CLOCK_MONOTONIC, and cheaper to read.
#[inline]
pub(crate) fn coarse_ns() -> u64 {
    read(ClockId::MonotonicCoarse)
}

#[inline]
pub(crate) fn read(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
}

/// Converts a duration to nanoseconds; the result saturates at 584 years.
pub(crate) fn in_ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Converts a duration limit of a QoS to ns; `u64::MAX` if there is no limit.
pub(crate) fn limit_ns(limit: Option<Duration>) -> u64 {
    limit.map_or(u64::MAX, in_ns)
}

/// The time until the deadline; `Duration::MAX` if there is no deadline.
pub(crate) fn remaining(deadline: Option<Instant>) -> Duration {
    deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn the_time_of_a_node_is_simulated_or_since_1970_and_never_monotonic() {
        let (clock, is_done) = (Clock::new_ros(), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_done.load(Relaxed) {
                    clock.simulate(true);
                    clock.simulate(false);
                }
            });
            let times: Vec<Duration> = (0..300_000).map(|_| clock.now()).collect();
            is_done.store(true, Relaxed);
            let is_other = |time: &&Duration| !time.is_zero() && time.as_secs() < 1_500_000_000;
            assert_eq!(times.iter().find(is_other), None);
        });
    }
}
