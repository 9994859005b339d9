//! Timers on a schedule that does not drift.
//!
//! A [`Timer`] is a handle: clones are handles to the same timer, and any thread may cancel or reset it. Invariant:
//! until a reset or a jump of the clock, the next due time is the first due time plus a whole number of periods.

use super::clock::{Clock, Jump, JumpListener, in_ns, monotonic_ns};
use crate::{
    error::{Error, Result},
    wait::{TakeSource, WaitSource, Waitable, lock},
};
use std::{
    sync::{Arc, Mutex, Weak},
    task::Waker,
    time::{Duration, Instant},
};

/// A timer, periodic or one-shot.
///
/// # Real-time
/// The handles of a timer share a lock, which is held for some nanoseconds. Only [`Timer::cancel`] and [`Timer::reset`]
/// allocate and wake waiting threads by a system call. A control loop that must not wait for a lock should sleep on the
/// system's clock directly (example `control_loop`).
#[derive(Debug)]
pub struct Timer {
    clock: Clock,
    schedule: Arc<Mutex<Schedule>>,
    /// The number that identifies this handle among the timer's handles.
    handle: u64,
}

#[derive(Debug)]
struct Schedule {
    period_ns: u64,
    is_one_shot: bool,
    /// The next due time; `None` if the timer was canceled, or is a one-shot timer that went off.
    next_ns: Option<u64>,
    overruns: u64,
    /// The time of the last cancel or reset: callbacks do not get ticks that were due before this time.
    changed_ns: Option<u64>,
    /// The number of handles that were made.
    handles: u64,
    /// The wakers of the handles, each with its handle's number.
    wakers: Vec<(u64, Waker)>,
}

/// A due time of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tick {
    /// The time at which the tick was due, by the timer's clock: the first due time since the last tick (rclcpp's
    /// `expected_call_time`). So `noticed - scheduled` is the whole delay, also if it is several periods.
    pub scheduled: Duration,
    /// The time at which the tick was taken (rclcpp's `actual_call_time`).
    pub noticed: Duration,
    /// The number of further due times that had also passed when the tick was taken. They get no ticks of their own.
    pub overruns: u64,
}

impl Timer {
    /// Makes a timer with the given period. The first tick is due one `period` from now.
    ///
    /// # Errors
    /// A period of 0.
    pub fn new(clock: &Clock, period: Duration) -> Result<Timer> {
        Timer::with(clock, period, false)
    }

    /// Makes a timer with a single tick, `delay` from now. After each reset, it has one more tick.
    ///
    /// # Errors
    /// The errors of [`Timer::new`].
    pub fn one_shot(clock: &Clock, delay: Duration) -> Result<Timer> {
        Timer::with(clock, delay, true)
    }

    fn with(clock: &Clock, period: Duration, is_one_shot: bool) -> Result<Timer> {
        if period.is_zero() {
            return Err(Error::ZeroPeriod);
        }
        let period_ns = in_ns(period);
        let (next_ns, changed_ns, wakers) = (None, None, Vec::new());
        let schedule = Schedule { period_ns, is_one_shot, next_ns, overruns: 0, changed_ns, handles: 1, wakers };
        let schedule = Arc::new(Mutex::new(schedule));
        let listener: Weak<Mutex<Schedule>> = Arc::downgrade(&schedule);
        clock.add_listener(listener); // before the clock is read, so that no later jump is missed
        let timer = Timer { clock: clock.clone(), schedule, handle: 0 };
        let mut schedule = lock(&timer.schedule);
        schedule.next_ns = Some(clock.now_ns().saturating_add(period_ns));
        drop(schedule);
        Ok(timer)
    }

    /// Takes the tick that is due, if there is one. Several due times make one tick, with the time of the first; the
    /// others count as overruns. The next tick is due a whole number of periods later.
    pub fn take(&mut self) -> Option<Tick> {
        let schedule = &mut *lock(&self.schedule);
        let now_ns = self.clock.now_ns(); // under the lock, so that no jump of the clock comes between
        let due_ns = schedule.next_ns.filter(|next_ns| *next_ns <= now_ns)?;
        let overruns = if schedule.is_one_shot { 0 } else { (now_ns - due_ns) / schedule.period_ns };
        let last_ns = due_ns + overruns * schedule.period_ns;
        schedule.next_ns = if schedule.is_one_shot { None } else { last_ns.checked_add(schedule.period_ns) };
        schedule.overruns += overruns;
        let (scheduled, noticed) = (Duration::from_nanos(due_ns), Duration::from_nanos(now_ns));
        Some(Tick { scheduled, noticed, overruns })
    }

    /// Stops the timer until a reset. Callbacks do not get ticks that were due before the cancel.
    pub fn cancel(&self) {
        self.change(|schedule, _| schedule.next_ns = None);
    }

    /// Restarts the timer: the next tick is due one period from now. Callbacks do not get ticks that were due
    /// before the reset.
    pub fn reset(&self) {
        self.change(|schedule, now_ns| schedule.next_ns = Some(now_ns.saturating_add(schedule.period_ns)));
    }

    /// Restarts the timer as [`Timer::reset`] does, but with the next tick after `delay` and the following ticks at
    /// whole periods after it. To align the phases of several timers, reset them with delays that end at the same time.
    pub fn reset_after(&self, delay: Duration) {
        self.change(|schedule, now_ns| schedule.next_ns = Some(now_ns.saturating_add(in_ns(delay))));
    }

    /// Whether the timer has no next tick: it was canceled, or it is a one-shot timer that has ticked, and it was not
    /// reset since then.
    #[must_use]
    pub fn is_canceled(&self) -> bool {
        lock(&self.schedule).next_ns.is_none()
    }

    /// The time until the next tick is due: 0 if a tick is due now, `None` if there will be no tick.
    #[must_use]
    pub fn time_until_trigger(&self) -> Option<Duration> {
        let next_ns = lock(&self.schedule).next_ns?;
        Some(Duration::from_nanos(next_ns.saturating_sub(self.clock.now_ns())))
    }

    /// The time at which the timer becomes ready; `None` if time alone does not make it ready. It is meant for a caller
    /// that waits without a wait set or an executor, for example with a [`Collector`](crate::Collector). On a clock
    /// that advances only when it is set, such as simulated time, the timer calls its waker ([`Waitable::set_waker`])
    /// when the clock is set.
    #[must_use]
    pub fn due(&mut self) -> Option<Instant> {
        let due_ns = self.due_ns()?;
        Instant::now().checked_add(Duration::from_nanos(due_ns.saturating_sub(monotonic_ns())))
    }

    /// The total number of periods that passed without a tick of their own.
    #[must_use]
    pub fn overruns(&self) -> u64 {
        lock(&self.schedule).overruns
    }

    fn change(&self, change: impl FnOnce(&mut Schedule, u64)) {
        let mut schedule = lock(&self.schedule);
        let now_ns = self.clock.now_ns(); // under the lock: every tick taken before has an earlier time
        change(&mut schedule, now_ns);
        schedule.changed_ns = Some(now_ns);
        let wakers = schedule.wakers.clone();
        drop(schedule);
        // Waiting threads are woken, because the new due time may be earlier than the end of their sleep.
        wakers.into_iter().for_each(|(_, waker)| waker.wake());
    }
}

impl JumpListener for Mutex<Schedule> {
    /// Adapts the due time as rcl does. After a change of the time's source, the remaining time stays the same. After a
    /// jump back by more than a period, a whole period remains.
    fn time_jumped(&self, jump: Jump) -> Vec<Waker> {
        let mut schedule = lock(self);
        let Some(next_ns) = schedule.next_ns else { return Vec::new() };
        let remaining_ns = next_ns.saturating_sub(jump.old_ns);
        if jump.is_other_source {
            schedule.next_ns = Some(jump.new_ns.saturating_add(remaining_ns));
        } else if jump.new_ns.saturating_add(schedule.period_ns) < next_ns {
            schedule.next_ns = Some(jump.new_ns.saturating_add(schedule.period_ns));
        }
        schedule.changed_ns = None; // the stored time is from before the jump
        schedule.wakers.iter().map(|(_, waker)| waker.clone()).collect()
    }
}

impl WaitSource for Timer {
    fn due_ns(&mut self) -> Option<u64> {
        let schedule = lock(&self.schedule);
        let next_ns = schedule.next_ns?;
        let due_ns = self.clock.due_ns(next_ns);
        if due_ns.is_none() {
            schedule.wakers.iter().for_each(|(_, waker)| self.clock.wake_when_set(waker));
            // The due time is checked again, because the clock may have been set since the last check.
            if next_ns <= self.clock.now_ns() {
                return Some(0);
            }
        }
        due_ns
    }

    fn is_timed(&self) -> bool {
        true
    }

    fn describe(&mut self) -> String {
        format!("a timer of {:?}", Duration::from_nanos(lock(&self.schedule).period_ns))
    }
}

impl Waitable for Timer {
    fn is_ready(&mut self) -> Result<bool> {
        let schedule = lock(&self.schedule);
        Ok(schedule.next_ns.is_some_and(|next_ns| next_ns <= self.clock.now_ns()))
    }

    fn set_waker(&mut self, waker: Option<Waker>) {
        let mut schedule = lock(&self.schedule);
        let index = schedule.wakers.iter().position(|(handle, _)| *handle == self.handle);
        let old = index.map(|index| schedule.wakers.swap_remove(index));
        schedule.wakers.extend(waker.map(|waker| (self.handle, waker)));
        drop(schedule);
        drop(old); // dropped after the unlock: the waker may own this timer
    }
}

impl Clone for Timer {
    /// Makes another handle to the same timer.
    fn clone(&self) -> Timer {
        let mut schedule = lock(&self.schedule);
        let handle = schedule.handles;
        schedule.handles += 1;
        Timer { clock: self.clock.clone(), schedule: self.schedule.clone(), handle }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.set_waker(None);
    }
}

impl TakeSource for Timer {
    type Taken = Tick;

    fn take_next(&mut self) -> Result<Option<Tick>> {
        Ok(self.take())
    }

    fn time_ns(&self, tick: &Tick) -> Option<u64> {
        self.clock.due_ns(in_ns(tick.scheduled)) // `None` for a manual clock, which shows another time
    }

    fn is_current(&self, tick: &Tick) -> bool {
        // A tick that was noticed at the time of a cancel or a reset is from before the change, because the first tick
        // after the change is noticed at least one period later.
        lock(&self.schedule).changed_ns.is_none_or(|changed_ns| changed_ns < in_ns(tick.noticed))
    }
}

#[cfg(test)]
mod tests;
