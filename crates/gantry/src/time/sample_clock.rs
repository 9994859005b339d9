//! The clock that stamps samples with the monotonic time and the wall time of their publication.

use super::clock::read;
use gantry_shm::SourceTime;
use rustix::time::ClockId;

/// The time for which the measured difference between the two clocks is reused: wall time is rarely stepped or slewed.
const WALL_VALID_NS: u64 = 1_000_000_000;

/// A clock for samples. It reads the monotonic clock for each sample, but the wall clock only once a second.
#[derive(Debug, Default)]
pub(crate) struct SampleClock {
    wall_minus_monotonic_ns: u64,
    valid_until_ns: u64,
}

impl SampleClock {
    /// Makes a clock and reads it once, because the first reading in a process makes system calls to set up the vDSO.
    pub(crate) fn new() -> SampleClock {
        let mut clock = SampleClock::default();
        clock.now();
        clock
    }

    /// The current time. The reading neither allocates nor makes system calls (vDSO).
    #[inline]
    pub(crate) fn now(&mut self) -> SourceTime {
        let monotonic_ns = read(ClockId::Monotonic);
        if monotonic_ns >= self.valid_until_ns {
            self.wall_minus_monotonic_ns = read(ClockId::Realtime).wrapping_sub(monotonic_ns);
            self.valid_until_ns = monotonic_ns + WALL_VALID_NS;
        }
        SourceTime { monotonic_ns, wall_ns: monotonic_ns.wrapping_add(self.wall_minus_monotonic_ns) }
    }
}
