//! Schedules: the due times of messages, which do not depend on when earlier messages were sent (open loop), and the
//! one-second rows of a report.
//!
//! Message `k` is due at `start + k · period`. A delay therefore shows as a late message and does not reduce the number
//! of messages (no coordinated omission).

use serde::{Deserialize, Serialize};

use crate::clock::SECOND_NS;

/// The pace of a publisher: a number of messages per period of time, at equal intervals. The product of `messages` and
/// `per_ns` is below 2^63.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pace {
    /// The number of messages; 0 means as fast as possible.
    pub messages: u32,
    /// The period, nanoseconds, more than 0.
    pub per_ns: i64,
}

impl Pace {
    /// `rate` messages in each second; 0 means as fast as possible.
    #[must_use]
    pub fn hz(rate: u32) -> Pace {
        Pace { messages: rate, per_ns: SECOND_NS }
    }

    /// The time from one message to the next, nanoseconds; `None` if messages are sent as fast as possible.
    #[must_use]
    pub fn period_ns(&self) -> Option<i64> {
        self.per_ns.checked_div(i64::from(self.messages))
    }

    /// Messages in each second; 0 means as fast as possible.
    #[must_use]
    pub fn messages_per_s(&self) -> f64 {
        f64::from(self.messages) * SECOND_NS as f64 / self.per_ns.max(1) as f64
    }

    /// Whole messages in each second; 0 means as fast as possible.
    #[must_use]
    pub fn rate_hz(&self) -> u32 {
        let rate = i64::from(self.messages) * SECOND_NS / self.per_ns.max(1);
        u32::try_from(rate).unwrap_or(u32::MAX)
    }
}

/// The schedule of messages.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    start_ns: i64,
    pace: Pace,
}

impl Schedule {
    /// Creates the schedule whose first message is due at `start_ns`.
    #[must_use]
    pub fn new(start_ns: i64, pace: Pace) -> Self {
        Schedule { start_ns, pace }
    }

    /// The due time of message `index` (counted from 0), in nanoseconds; `None` if messages are sent as fast as
    /// possible.
    #[must_use]
    pub fn due_ns(&self, index: u64) -> Option<i64> {
        let messages = u64::from(self.pace.messages);
        // Whole periods of the pace are added separately, to avoid overflow and accumulated rounding errors.
        let rounds = index.checked_div(messages)?;
        let rest_ns = index % messages * self.per_ns() / messages;
        Some(self.start_ns + rounds as i64 * self.pace.per_ns + rest_ns as i64)
    }

    /// The number of messages that are due before `time_ns`; 0 if messages are sent as fast as possible.
    #[must_use]
    pub fn due_before(&self, time_ns: i64) -> u64 {
        let elapsed_ns = u64::try_from(time_ns - self.start_ns).unwrap_or(0);
        let (rounds, rest_ns) = (elapsed_ns / self.per_ns(), elapsed_ns % self.per_ns());
        let messages = u64::from(self.pace.messages);
        rounds * messages + (rest_ns * messages).div_ceil(self.per_ns())
    }

    fn per_ns(&self) -> u64 {
        self.pace.per_ns.max(1) as u64
    }
}

/// The current row of a report. Row `k` covers the second `[start + k s, start + (k + 1) s)`.
#[derive(Clone, Copy, Debug)]
pub struct Seconds {
    start_ns: i64,
    open: u64,
}

impl Seconds {
    /// Starts row 0 at `start_ns`.
    #[must_use]
    pub fn new(start_ns: i64) -> Self {
        Seconds { start_ns, open: 0 }
    }

    /// The index of the current row.
    #[must_use]
    pub fn open(&self) -> u64 {
        self.open
    }

    /// The end of the current row, in nanoseconds.
    #[must_use]
    pub fn end_ns(&self) -> i64 {
        self.end_of_ns(self.open)
    }

    /// The end of row `second`, in nanoseconds.
    #[must_use]
    pub fn end_of_ns(&self, second: u64) -> i64 {
        self.start_ns + (second as i64 + 1) * SECOND_NS
    }

    /// Closes the current row if its second has ended at `now_ns`, and returns its index. Call this until it returns
    /// `None`, because several rows may have ended.
    pub fn close(&mut self, now_ns: i64) -> Option<u64> {
        if now_ns < self.end_ns() {
            return None;
        }
        self.open += 1;
        Some(self.open - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_keep_to_the_schedule_for_years_without_drift() {
        let schedule = Schedule::new(500, Pace::hz(3));
        assert_eq!(schedule.due_ns(0), Some(500));
        assert_eq!(schedule.due_ns(1), Some(500 + 333_333_333));
        assert_eq!(schedule.due_ns(3), Some(500 + SECOND_NS));
        let year_s = 365 * 24 * 3600;
        assert_eq!(schedule.due_ns(3 * year_s), Some(500 + year_s as i64 * SECOND_NS));
    }

    #[test]
    fn every_rate_sends_exactly_that_many_in_each_second() {
        for rate_hz in [1, 7, 100, 1000, 999_999, 1_000_000] {
            let schedule = Schedule::new(0, Pace::hz(rate_hz));
            for second in [0_u64, 1, 30] {
                let first = second * u64::from(rate_hz);
                assert_eq!(schedule.due_ns(first), Some(second as i64 * SECOND_NS));
                assert!(schedule.due_ns(first + u64::from(rate_hz) - 1).unwrap() < (second as i64 + 1) * SECOND_NS);
            }
        }
    }

    #[test]
    fn as_many_are_due_as_have_a_due_time_before() {
        for rate_hz in [1, 3, 7, 999_999] {
            let schedule = Schedule::new(500, Pace::hz(rate_hz));
            assert_eq!((schedule.due_before(0), schedule.due_before(500), schedule.due_before(501)), (0, 0, 1));
            for index in [1, 2, 10, 1_000_003] {
                let due_ns = schedule.due_ns(index).unwrap();
                assert_eq!((schedule.due_before(due_ns), schedule.due_before(due_ns + 1)), (index, index + 1));
            }
        }
    }

    #[test]
    fn rate_zero_is_due_at_once() {
        let schedule = Schedule::new(500, Pace::hz(0));
        assert_eq!((schedule.due_ns(10), schedule.due_before(10_000)), (None, 0));
    }

    #[test]
    fn rows_close_one_by_one_even_after_a_long_stall() {
        let mut seconds = Seconds::new(100);
        assert_eq!(seconds.close(99 + SECOND_NS), None);
        assert_eq!(seconds.close(100 + SECOND_NS), Some(0));
        assert_eq!(seconds.close(100 + SECOND_NS), None);
        let late = 100 + 4 * SECOND_NS;
        let closed: Vec<u64> = std::iter::from_fn(|| seconds.close(late)).collect();
        assert_eq!(closed, [1, 2, 3]);
        assert_eq!(seconds.open(), 4);
    }
}
