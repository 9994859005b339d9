//! A loop's rate.

use super::{clock::Clock, timer::Timer};
use crate::{
    context,
    error::{Error, Result},
    wait::{WaitSource, Waitable, lock},
};
use std::{
    sync::{Arc, Condvar, Mutex, PoisonError},
    task::{Wake, Waker},
    time::Duration,
};

/// Keeps a loop at a rate, on a schedule that does not drift (rclcpp's `Rate`).
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
/// [`Rate::sleep`] locks, and sleeps in a futex. A control loop that must not wait for a lock sleeps on the clock itself
/// (example `control_loop`).
#[derive(Debug)]
pub struct Rate {
    timer: Timer,
    period: Duration,
    alarm: Arc<Alarm>,
    waker: Waker,
}

/// Ends a sleep.
#[derive(Debug, Default)]
struct Alarm {
    is_rung: Mutex<bool>,
    rung: Condvar,
}

impl Rate {
    /// A loop of `rate_hz` rounds a second by the steady clock; the first one ends one period from now.
    ///
    /// # Errors
    /// A rate that is not above 0 and finite, or above 1e9.
    pub fn new(rate_hz: f64) -> Result<Rate> {
        match Duration::try_from_secs_f64(1.0 / rate_hz) {
            Ok(period) if !period.is_zero() => Rate::with_clock(&Clock::steady(), period),
            _ => Err(Error::InvalidRate { rate_hz }),
        }
    }

    /// A loop with a round in each `period` of `clock`.
    ///
    /// # Errors
    /// A period of 0.
    pub fn with_clock(clock: &Clock, period: Duration) -> Result<Rate> {
        let (mut timer, alarm) = (Timer::new(clock, period)?, Arc::<Alarm>::default());
        let waker: Waker = alarm.clone().into();
        timer.set_waker(Some(waker.clone()));
        context::wake_at_shutdown(&waker);
        Ok(Rate { timer, period, alarm, waker })
    }

    /// The length of a round.
    #[must_use]
    pub fn period(&self) -> Duration {
        self.period
    }

    /// Sleeps until the round's end. `false` if that has passed already, so that the loop is late, or the program shuts
    /// down. Rounds that were missed as a whole are left out: the next one ends with a later period of the same schedule.
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

    /// Begins a round now.
    pub fn reset(&mut self) {
        self.timer.reset();
    }
}

impl Drop for Rate {
    fn drop(&mut self) {
        context::forget_waker(&self.waker);
    }
}

impl Alarm {
    /// Waits until it is rung, or `timeout`.
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
