//! The lease of a publisher that must assert its liveliness.
//!
//! All times are CLOCK_MONOTONIC in ns. A time from another process may have any value: a time in the future counts as
//! now.

use crate::time::limit_ns;
use gantry_shm::Qos;

/// The bounds of the time between two checks of a publisher whose lease ran out.
const RECHECK_NS: std::ops::RangeInclusive<u64> = 1_000_000..=1_000_000_000;

/// The lease of a publisher that must assert its liveliness within a time limit, and whether the publisher is alive.
pub(crate) struct Lease {
    lease_ns: u64,
    pub(crate) is_alive: bool,
    due_ns: u64,
}

impl Lease {
    /// Creates the lease for a publisher with this QoS. The lease never ends if the publisher need not assert its
    /// liveliness.
    pub(crate) fn from_qos(qos: &Qos) -> Lease {
        let lease = qos.liveliness_lease_duration.filter(|_| qos.has_manual_lease());
        Lease { lease_ns: limit_ns(lease), is_alive: true, due_ns: 0 }
    }

    /// Returns whether a publisher that was last active at `active_ns` is alive at `now_ns`, and sets the time of the
    /// next check.
    pub(crate) fn update(&mut self, active_ns: u64, now_ns: u64) -> bool {
        self.is_alive = now_ns.saturating_sub(active_ns) <= self.lease_ns;
        self.due_ns = match self.is_alive {
            true => active_ns.min(now_ns).saturating_add(self.lease_ns).saturating_add(1),
            // The observer polls: a publisher that becomes active again wakes no thread, so that asserting liveliness
            // stays cheap.
            false => now_ns.saturating_add(self.lease_ns.clamp(*RECHECK_NS.start(), *RECHECK_NS.end())),
        };
        self.is_alive
    }

    /// Whether the lease can run out.
    pub(crate) fn is_limited(&self) -> bool {
        self.lease_ns < u64::MAX
    }

    /// When the next update is due.
    pub(crate) fn due_ns(&self) -> u64 {
        self.due_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_runs_out_and_is_taken_up_again() {
        let mut lease = Lease { lease_ns: 100, is_alive: true, due_ns: 0 };
        assert!(lease.update(1000, 1100));
        assert_eq!(lease.due_ns(), 1101);
        assert!(!lease.update(1000, 1101));
        assert_eq!(lease.due_ns(), 1101 + RECHECK_NS.start(), "not all the time");
        assert!(lease.update(1200, 1300));
        assert!(lease.update(u64::MAX, 1300), "a time in the future is now");
        assert_eq!(lease.due_ns(), 1401);
    }

    #[test]
    fn a_lease_without_end_is_never_due() {
        let mut lease = Lease::from_qos(&Qos::default());
        assert_eq!((lease.update(0, u64::MAX), lease.due_ns()), (true, u64::MAX));
    }
}
