//! Due times: messages on an open-loop schedule, and one-second rows.
//!
//! A schedule does not depend on earlier messages: message `k` is due at `start + k / rate`. So a slow moment shows as lateness and is
//! not hidden by sending less (no coordinated omission).

use crate::clock::SECOND_NS;

/// The schedule of messages.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    start_ns: i64,
    rate_hz: u32,
}

impl Schedule {
    /// Messages from `start_ns` on, `rate_hz` in each second; 0 is as fast as possible.
    #[must_use]
    pub fn new(start_ns: i64, rate_hz: u32) -> Self {
        Schedule { start_ns, rate_hz }
    }

    /// The due time of message `index` (first 0), in nanoseconds; `None` if messages are due at once.
    #[must_use]
    pub fn due_ns(&self, index: u64) -> Option<i64> {
        let rate = u64::from(self.rate_hz);
        // Whole seconds are separate from the rest, to avoid double rounding and overflow.
        let seconds = index.checked_div(rate)?;
        let rest_ns = index % rate * SECOND_NS as u64 / rate;
        Some(self.start_ns + seconds as i64 * SECOND_NS + rest_ns as i64)
    }

    /// The number of messages due before `time_ns`; 0 if they are due at once.
    #[must_use]
    pub fn due_before(&self, time_ns: i64) -> u64 {
        let elapsed_ns = u64::try_from(time_ns - self.start_ns).unwrap_or(0);
        let (seconds, rest_ns) = (elapsed_ns / SECOND_NS as u64, elapsed_ns % SECOND_NS as u64);
        let rate = u64::from(self.rate_hz);
        seconds * rate + (rest_ns * rate).div_ceil(SECOND_NS as u64)
    }
}

/// The open one-second row: row `k` covers `[start + k s, start + (k + 1) s)`.
#[derive(Clone, Copy, Debug)]
pub struct Seconds {
    start_ns: i64,
    open: u64,
}

impl Seconds {
    /// Rows counted from `start_ns`; row 0 is open.
    #[must_use]
    pub fn new(start_ns: i64) -> Self {
        Seconds { start_ns, open: 0 }
    }

    /// The index of the open row.
    #[must_use]
    pub fn open(&self) -> u64 {
        self.open
    }

    /// The end of the open row, in nanoseconds.
    #[must_use]
    pub fn end_ns(&self) -> i64 {
        self.end_of_ns(self.open)
    }

    /// The end of row `second`, in nanoseconds.
    #[must_use]
    pub fn end_of_ns(&self, second: u64) -> i64 {
        self.start_ns + (second as i64 + 1) * SECOND_NS
    }

    /// Closes the open row if it has ended at `now_ns` and returns its index. Call it until it returns `None`.
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
        let schedule = Schedule::new(500, 3);
        assert_eq!(schedule.due_ns(0), Some(500));
        assert_eq!(schedule.due_ns(1), Some(500 + 333_333_333));
        assert_eq!(schedule.due_ns(3), Some(500 + SECOND_NS));
        let year_s = 365 * 24 * 3600;
        assert_eq!(schedule.due_ns(3 * year_s), Some(500 + year_s as i64 * SECOND_NS));
    }

    #[test]
    fn every_rate_sends_exactly_that_many_in_each_second() {
        for rate_hz in [1, 7, 100, 1000, 999_999, 1_000_000] {
            let schedule = Schedule::new(0, rate_hz);
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
            let schedule = Schedule::new(500, rate_hz);
            assert_eq!((schedule.due_before(0), schedule.due_before(500), schedule.due_before(501)), (0, 0, 1));
            for index in [1, 2, 10, 1_000_003] {
                let due_ns = schedule.due_ns(index).unwrap();
                assert_eq!((schedule.due_before(due_ns), schedule.due_before(due_ns + 1)), (index, index + 1));
            }
        }
    }

    #[test]
    fn rate_zero_is_due_at_once() {
        let schedule = Schedule::new(500, 0);
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
