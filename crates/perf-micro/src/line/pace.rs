//! The time that bytes take on a line.

use perf_worker::clock::SECOND_NS;

use crate::transport::Speed;

/// The longest delay of the relay that the line makes up for, ns. If the relay wakes up late, waiting bytes count as
/// sent on time.
const MOST_CATCH_UP_NS: i64 = 2_000_000;

/// The state of one direction of a line.
#[derive(Debug)]
pub struct Pace {
    speed: Speed,
    /// The time at which the line is free, with fractions of ns, so that rounding errors do not add up.
    free_at_ns: f64,
}

impl Pace {
    /// Creates the state of a line with this speed, on which no bytes are under way.
    pub fn new(speed: Speed) -> Pace {
        Pace { speed, free_at_ns: 0.0 }
    }

    /// The number of bytes that the relay moves as one chunk.
    pub fn chunk_bytes(&self) -> usize {
        self.speed.chunk_bytes
    }

    /// Returns the time at which the last of `bytes` bytes has arrived. `waited` means that the bytes were waiting for
    /// the line, so they follow the earlier bytes without a gap.
    pub fn arrival_ns(&mut self, now_ns: i64, bytes: usize, waited: bool) -> i64 {
        let earliest_ns = if waited { now_ns - MOST_CATCH_UP_NS } else { now_ns };
        let start_ns = self.free_at_ns.max(earliest_ns as f64);
        self.free_at_ns = start_ns + bytes as f64 * SECOND_NS as f64 / self.speed.bytes_per_s;
        self.free_at_ns as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_line_keeps_its_rate_and_an_idle_one_saves_no_time() {
        let mut pace = Pace::new(Speed { bytes_per_s: 10_000.0, chunk_bytes: 16 });
        let second = SECOND_NS;
        assert_eq!(pace.arrival_ns(second, 10, false), second + 1_000_000);
        // The relay woke up late by 0.5 ms, and the bytes were waiting.
        assert_eq!(pace.arrival_ns(second + 1_500_000, 10, true), second + 2_000_000);
        // The bytes came 0.5 ms after the line had become free.
        assert_eq!(pace.arrival_ns(second + 2_500_000, 10, false), second + 3_500_000);
        // A relay that slept for a second does not send a second's bytes at once.
        assert_eq!(pace.arrival_ns(3 * second, 10, true), 3 * second - 1_000_000);
    }
}
