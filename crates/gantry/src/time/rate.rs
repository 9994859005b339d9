//! The rate of a loop.

use super::{clock::Clock, timer::Timer};
use crate::{
    context::{self, ShutdownWaker},
    error::{Error, Result},
    wait::{WaitSource, Waitable, lock},
};
use std::{
    sync::{Arc, Condvar, Mutex, PoisonError},
    task::{Wake, Waker},
    time::Duration,
};

/// Keeps a loop at a fixed rate that does not drift (rclcpp's `Rate`).
///
/// ```
/// # fn main() -> gantry::Result<()> {
/// let mut rate = gantry::Rate::new(50.0)?; // Hz
/// while gantry::ok() {
///     // work
///     rate.sleep();
/// #   break;
/// }
/// # Ok(()) }
/// ```
///
/// # Real-time
/// [`Rate::sleep`] takes a lock, and sleeps in a futex. A control loop that must not wait for a lock should sleep on
/// the system's clock directly (example `control_loop`).
#[derive(Debug)]
pub struct Rate {
    timer: Timer,
    period: Duration,
    alarm: Arc<Alarm>,
    /// Ends a sleep at a shutdown.
    _at_shutdown: ShutdownWaker,
}

/// The waker that ends a sleep.
#[derive(Debug, Default)]
struct Alarm {
    is_rung: Mutex<bool>,
    rung: Condvar,
}

impl Rate {
    /// Makes a rate of `rate_hz` cycles per second on the steady clock. The first cycle ends one period from now.
    ///
    /// # Errors
    /// `rate_hz` is not above 0, not finite, or above 1e9.
    pub fn new(rate_hz: f64) -> Result<Rate> {
        match Duration::try_from_secs_f64(1.0 / rate_hz) {
            Ok(period) if !period.is_zero() => Rate::with_clock(&Clock::steady(), period),
            _ => Err(Error::InvalidRate { rate_hz }),
        }
    }

    /// Makes a rate with one cycle per `period` of `clock`.
    ///
    /// # Errors
    /// A period of 0.
    pub fn with_clock(clock: &Clock, period: Duration) -> Result<Rate> {
        let (mut timer, alarm) = (Timer::new(clock, period)?, Arc::<Alarm>::default());
        let waker: Waker = alarm.clone().into();
        timer.set_waker(Some(waker.clone()));
        Ok(Rate { timer, period, alarm, _at_shutdown: ShutdownWaker::new(waker) })
    }

    /// The length of a cycle.
    #[must_use]
    pub fn period(&self) -> Duration {
        self.period
    }

    /// Sleeps until the end of the current cycle. Returns `false` if that time has already passed, so that the loop is
    /// late, or if the program shuts down. Cycles that have passed completely are skipped, and the schedule stays the
    /// same.
    pub fn sleep(&mut self) -> bool {
        if self.timer.take().is_some() {
            return false;
        }
        while !context::is_shut_down() {
            if self.timer.take().is_some() {
                return true;
            }
            let until_due = self.timer.due_ns().is_some().then(|| self.timer.time_until_trigger()).flatten();
            self.alarm.wait(until_due);
        }
        false
    }

    /// Starts a new cycle now.
    pub fn reset(&mut self) {
        self.timer.reset();
    }
}

impl Alarm {
    /// Waits until the waker is called or `timeout` has passed.
    fn wait(&self, timeout: Option<Duration>) {
        let mut is_rung = lock(&self.is_rung);
        if !*is_rung {
            is_rung = match timeout {
                Some(timeout) => self.rung.wait_timeout(is_rung, timeout).unwrap_or_else(PoisonError::into_inner).0,
                None => self.rung.wait(is_rung).unwrap_or_else(PoisonError::into_inner),
            };
        }
        *is_rung = false;
    }
}

impl Wake for Alarm {
    fn wake(self: Arc<Alarm>) {
        *lock(&self.is_rung) = true;
        self.rung.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_round_ends_on_the_schedule_and_a_late_one_at_once() {
        let clock = Clock::manual(ms(0));
        let mut rate = Rate::with_clock(&clock, ms(10)).unwrap();
        std::thread::scope(|scope| {
            let slept = scope.spawn(|| rate.sleep());
            clock.set(ms(10)); // the notification comes before the sleep, in it, or between the check and the sleep
            slept.join().unwrap();
        });
        clock.set(ms(47));
        assert!(!rate.sleep(), "late");
        assert_eq!(rate.timer.time_until_trigger(), Some(ms(3)), "on the same schedule");
        rate.reset();
        assert_eq!(rate.timer.time_until_trigger(), Some(ms(10)));
    }

    #[test]
    fn rounds_of_the_steady_clock_are_no_shorter_than_the_rate_says() {
        let begin = std::time::Instant::now();
        let mut rate = Rate::new(200.0).unwrap();
        assert_eq!(rate.period(), ms(5));
        (0..4).for_each(|_| {
            rate.sleep();
        });
        assert!(begin.elapsed() >= ms(15), "the fourth ends 20 ms after the beginning, and the one before it 15");
    }

    #[test]
    fn rates_that_no_loop_can_have_are_refused() {
        for rate_hz in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e10] {
            assert!(Rate::new(rate_hz).unwrap_err().to_string().contains("above 0"), "{rate_hz}");
        }
    }
}
