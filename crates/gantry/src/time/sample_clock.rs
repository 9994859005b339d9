//! When a sample was published, by both clocks. Used by `generic_publisher`.

use super::clock::read;
use gantry_shm::SourceTime;
use rustix::time::ClockId;

/// How long the distance between the two clocks is believed: wall time is stepped and slewed rarely.
const WALL_VALID_NS: u64 = 1_000_000_000;

/// Stamps samples with one reading of the monotonic clock each, and one of the wall clock a second.
#[derive(Debug, Default)]
pub(crate) struct SampleClock {
    wall_minus_monotonic_ns: u64,
    valid_until_ns: u64,
}

impl SampleClock {
    /// Reads the clocks once: the first reading in a process looks by system calls for how it is done without.
    pub(crate) fn new() -> SampleClock {
        let mut clock = SampleClock::default();
        clock.now();
        clock
    }

    /// Now. Neither allocates nor makes system calls (vDSO).
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
