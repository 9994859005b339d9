//! Leases that run out while no activity is seen.
//!
//! All times are CLOCK_MONOTONIC in ns. Those of other processes may be anything: a time in the future counts as now.

/// How often whoever seems dead is looked at, whatever its lease.
const LOOK_AGAIN_NS: std::ops::RangeInclusive<u64> = 1_000_000..=1_000_000_000;

/// Says whether somebody is alive who has to say so every now and then.
pub(crate) struct Lease {
    lease_ns: u64,
    pub(crate) is_alive: bool,
    due_ns: u64,
}

impl Lease {
    pub(crate) fn new(lease_ns: u64) -> Lease {
        Lease { lease_ns, is_alive: true, due_ns: 0 }
    }

    /// Whether it is alive, if it was last heard of at `heard_ns`.
    pub(crate) fn look(&mut self, heard_ns: u64, now_ns: u64) -> bool {
        self.is_alive = now_ns.saturating_sub(heard_ns) <= self.lease_ns;
        self.due_ns = match self.is_alive {
            true => heard_ns.min(now_ns).saturating_add(self.lease_ns).saturating_add(1),
            // Nobody rings when it is heard of again: saying so must cost nothing.
            false => now_ns.saturating_add(self.lease_ns.clamp(*LOOK_AGAIN_NS.start(), *LOOK_AGAIN_NS.end())),
        };
        self.is_alive
    }

    /// When to look again.
    pub(crate) fn due_ns(&self) -> u64 {
        self.due_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_runs_out_and_is_taken_up_again() {
        let mut lease = Lease::new(100);
        assert!(lease.look(1000, 1100));
        assert_eq!(lease.due_ns(), 1101);
        assert!(!lease.look(1000, 1101));
        assert_eq!(lease.due_ns(), 1101 + LOOK_AGAIN_NS.start(), "not all the time");
        assert!(lease.look(1200, 1300));
        assert!(lease.look(u64::MAX, 1300), "a time in the future is now");
        assert_eq!(lease.due_ns(), 1401);
    }
}
