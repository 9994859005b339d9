//! The deadline of an endpoint: the longest time between two samples.
//!
//! All times are CLOCK_MONOTONIC in ns. A time from another process may have any value: a time in the future counts as
//! now.

/// Counts the periods without a sample.
pub(crate) struct Deadline {
    period_ns: u64,
    /// The time of the newest sample; without a sample, the time at which the deadline began.
    since_ns: u64,
    /// The number of periods since `since_ns` that were counted already.
    counted: u64,
}

impl Deadline {
    /// Creates a deadline. A deadline with a period of `u64::MAX` is never due.
    pub(crate) fn new(period_ns: u64, now_ns: u64) -> Deadline {
        Deadline { period_ns, since_ns: now_ns, counted: 0 }
    }

    /// Restarts the deadline at `now_ns`.
    pub(crate) fn restart(&mut self, now_ns: u64) {
        *self = Deadline::new(self.period_ns, now_ns);
    }

    /// Returns the number of missed deadline periods that no earlier call counted. `newest_ns` is the time of the
    /// newest sample.
    pub(crate) fn missed(&mut self, newest_ns: u64, now_ns: u64) -> u64 {
        if newest_ns > self.since_ns {
            self.restart(newest_ns.min(now_ns));
        }
        let periods = now_ns.saturating_sub(self.since_ns) / self.period_ns;
        let more = periods.saturating_sub(self.counted);
        self.counted += more;
        more
    }

    /// The time at which the next period that was not counted yet ends.
    pub(crate) fn due_ns(&self) -> u64 {
        self.since_ns.saturating_add(self.period_ns.saturating_mul(self.counted + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_period_without_a_sample_is_counted_once() {
        let mut deadline = Deadline::new(100, 1000);
        assert_eq!((deadline.missed(0, 1099), deadline.due_ns()), (0, 1100));
        assert_eq!((deadline.missed(0, 1100), deadline.due_ns()), (1, 1200));
        assert_eq!(deadline.missed(0, 1100), 0, "a second update counts nothing");
        assert_eq!((deadline.missed(0, 1350), deadline.due_ns()), (2, 1400));
        assert_eq!((deadline.missed(1390, 1480), deadline.due_ns()), (0, 1490), "a sample begins a new period");
        assert_eq!(deadline.missed(1390, 1490), 1);
        assert_eq!(deadline.missed(u64::MAX, 1500), 0, "a time in the future is now");
        assert_eq!(deadline.missed(u64::MAX, 1599), 0);
        deadline.restart(5000);
        assert_eq!((deadline.missed(0, 5099), deadline.missed(0, 5100)), (0, 1));
    }

    #[test]
    fn a_deadline_without_end_is_never_due() {
        let mut deadline = Deadline::new(u64::MAX, 1000);
        assert_eq!((deadline.missed(0, u64::MAX - 1), deadline.due_ns()), (0, u64::MAX));
    }
}
