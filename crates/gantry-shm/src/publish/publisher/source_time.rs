//! The time of a sample.

use crate::os::clock::{monotonic_ns, realtime_ns};

/// The time at which a sample was published, on two clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourceTime {
    /// CLOCK_MONOTONIC, ns.
    pub monotonic_ns: u64,
    /// CLOCK_REALTIME, ns.
    pub wall_ns: u64,
}

impl SourceTime {
    /// Reads the current time on both clocks, without a system call.
    #[must_use]
    pub fn now() -> SourceTime {
        SourceTime { monotonic_ns: monotonic_ns(), wall_ns: realtime_ns() }
    }
}
