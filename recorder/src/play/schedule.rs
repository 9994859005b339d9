//! The schedule: converts times in the bag to times of the monotonic clock at which messages are due.
//!
//! Every due time is computed from one anchor, so that errors do not add up. The anchor is a pair: a time of the clock,
//! and the time in the bag that is due at this time. It moves after a pause and when the rate changes.

use gantry::SourceTime;
use gantry_shm::set_time_slice;
use rustix::thread::{ClockId, Timespec, clock_nanosleep_absolute, set_current_timer_slack};
use std::{num::NonZeroU64, time::Duration};

/// The conversion between times in the bag and times of the clock.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    /// The number of seconds of the bag that are played per second; 0 means as fast as possible.
    rate: f64,
    /// The anchor: a time of CLOCK_MONOTONIC.
    anchor_ns: u64,
    /// The time in the bag at the anchor.
    position_ns: u64,
}

impl Schedule {
    /// Creates a schedule in which the time `position_ns` in the bag is due now.
    #[must_use]
    pub fn new(rate: f64, position_ns: u64) -> Schedule {
        Schedule { rate, anchor_ns: monotonic_ns(), position_ns }
    }

    /// The time of CLOCK_MONOTONIC at which the message with the time `time_ns` in the bag is due.
    #[must_use]
    pub fn due_ns(&self, time_ns: u64) -> u64 {
        if self.rate <= 0.0 {
            return 0;
        }
        let after_ns = time_ns.saturating_sub(self.position_ns);
        self.anchor_ns.saturating_add((after_ns as f64 / self.rate) as u64)
    }

    /// The recorded time whose messages have to be published at `now_ns` (CLOCK_MONOTONIC).
    #[must_use]
    pub fn position_ns(&self, now_ns: u64) -> u64 {
        let after_ns = now_ns.saturating_sub(self.anchor_ns);
        self.position_ns.saturating_add((after_ns as f64 * self.rate) as u64)
    }

    /// Moves the anchor, so that the time `position_ns` in the bag is due now.
    pub fn restart(&mut self, position_ns: u64) {
        *self = Schedule::new(self.rate, position_ns);
    }

    /// Multiplies the rate by this factor from now on.
    pub fn change_rate(&mut self, factor: f64) {
        let position_ns = self.position_ns(monotonic_ns());
        *self = Schedule::new(self.rate * factor, position_ns);
    }

    /// The number of seconds of the bag that are played per second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.rate
    }
}

/// The time of CLOCK_MONOTONIC, in nanoseconds.
#[must_use]
pub fn monotonic_ns() -> u64 {
    SourceTime::now().monotonic_ns
}

/// The time slice of a thread with sharp sleeps, the shortest that Linux allows.
const TIME_SLICE: Duration = Duration::from_micros(100);

/// Makes the sleeps of this thread end on time. By default, Linux may end a sleep 50 µs later (timer slack), and
/// another thread may keep the processor for some milliseconds (time slice).
pub fn sharpen_sleeps() {
    // An error only makes messages a little later.
    let _ = set_current_timer_slack(NonZeroU64::new(1));
    let _ = set_time_slice(TIME_SLICE);
}

/// Sleeps until a time of CLOCK_MONOTONIC, or until a signal arrives.
pub fn sleep_until(due_ns: u64) {
    let (tv_sec, tv_nsec) = ((due_ns / 1_000_000_000) as i64, (due_ns % 1_000_000_000) as _);
    let _ = clock_nanosleep_absolute(ClockId::Monotonic, &Timespec { tv_sec, tv_nsec }); // callers retry after a signal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_scaled_from_the_anchor() {
        let schedule = Schedule { rate: 2.0, anchor_ns: 1_000, position_ns: 50_000 };
        assert_eq!([49_000, 50_000, 50_500, 52_000].map(|time| schedule.due_ns(time)), [1_000, 1_000, 1_250, 2_000]);
        assert_eq!(schedule.position_ns(2_000), 52_000);
        let fast = Schedule { rate: 0.0, ..schedule };
        assert_eq!((fast.due_ns(u64::MAX), fast.position_ns(9_000)), (0, 50_000));
    }
}
