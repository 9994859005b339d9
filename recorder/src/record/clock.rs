//! The clock for log times: CLOCK_REALTIME, computed from CLOCK_MONOTONIC.

use gantry::SourceTime;

/// The least change of the offset that shows that CLOCK_REALTIME was set. A smaller change may come from the time
/// between the two clock readings.
const STEP_NS: u64 = 1_000_000;

/// CLOCK_REALTIME minus CLOCK_MONOTONIC. The offset stays constant until CLOCK_REALTIME is set, so that the intervals
/// between messages are exact.
#[derive(Debug)]
pub struct Clock {
    offset_ns: u64,
}

impl Clock {
    /// Reads the offset.
    #[must_use]
    pub fn new() -> Clock {
        Clock { offset_ns: offset_ns() }
    }

    /// Reads the offset again, and uses the new value if CLOCK_REALTIME was set.
    pub fn adjust(&mut self) {
        let offset_ns = offset_ns();
        if offset_ns.abs_diff(self.offset_ns) > STEP_NS {
            self.offset_ns = offset_ns;
        }
    }

    /// Converts a time of CLOCK_MONOTONIC to CLOCK_REALTIME.
    #[must_use]
    pub fn wall_ns(&self, monotonic_ns: u64) -> u64 {
        monotonic_ns.saturating_add(self.offset_ns)
    }
}

/// Measures the offset three times and takes the smallest value. A value is too large if the thread is interrupted
/// between the two clock readings.
fn offset_ns() -> u64 {
    let differences = [(); 3].map(|()| {
        let now = SourceTime::now();
        now.wall_ns.saturating_sub(now.monotonic_ns)
    });
    differences.into_iter().min().unwrap_or_default()
}
