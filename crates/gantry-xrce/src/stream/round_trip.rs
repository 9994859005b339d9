//! The round-trip time of a stream, and the timeout that follows from it.

/// The timeout before the first measurement, and the upper limit for doubled timeouts. It is the period of
/// eProsima's heartbeats.
const PATIENCE_US: u32 = 100_000;
const MIN_TIMEOUT_US: u32 = 1_000;
/// Measurements longer than this value count as this value, so that the arithmetic stays below 32 bits.
const MAX_SAMPLE_US: u32 = 10_000_000;

/// A moving average of round-trip times (RFC 6298), and of the lengths of the measured messages. The struct has
/// 12 bytes.
///
/// Invariant: `smoothed_us` is 0 only before the first measurement.
#[derive(Clone, Debug, Default)]
pub struct RoundTrip {
    smoothed_us: u32,
    deviation_us: u32,
    length: u16,
}

impl RoundTrip {
    /// Nothing measured.
    #[must_use]
    pub const fn new() -> Self {
        Self { smoothed_us: 0, deviation_us: 0, length: 0 }
    }

    /// Adds a measurement: the time until the answer to a message with a body of `length` bytes.
    pub fn measured(&mut self, elapsed_us: u32, length: usize) {
        let elapsed = elapsed_us.clamp(1, MAX_SAMPLE_US);
        let length = u16::try_from(length).unwrap_or(u16::MAX);
        if self.smoothed_us == 0 {
            // RFC 6298 sets the first deviation to half of the measured time. This code sets it to an eighth. A timeout
            // that is too short costs a retransmission in RFC 6298, but only a probe here.
            *self = Self { smoothed_us: elapsed, deviation_us: elapsed / 8, length };
            return;
        }
        self.deviation_us = (3 * self.deviation_us + self.smoothed_us.abs_diff(elapsed)) / 4;
        self.smoothed_us = ((7 * self.smoothed_us + elapsed) / 8).max(1);
        self.length = ((7 * u32::from(self.length) + u32::from(length)) / 8) as u16;
    }

    /// The average round trip in microseconds; `None` before the first measurement.
    #[must_use]
    pub fn smoothed_us(&self) -> Option<u32> {
        (self.smoothed_us != 0).then_some(self.smoothed_us)
    }

    /// The time to wait for an answer after `tries` unanswered attempts. The time is doubled with each attempt, up to
    /// 100 ms. The first doubling ignores this limit, so that the round trip of a line that became slower is measured.
    pub(super) fn timeout_us(&self, tries: u8) -> u32 {
        if self.smoothed_us == 0 {
            return PATIENCE_US;
        }
        let once = (self.smoothed_us + (4 * self.deviation_us).max(self.smoothed_us / 4)).max(MIN_TIMEOUT_US);
        let doubled = once.saturating_mul(1 << tries.min(12));
        doubled.min(PATIENCE_US.max(2 * once))
    }

    /// Whether a message of `length` bytes is not much longer than the measured messages. On a slow line, a longer
    /// message takes longer, and the timeout would be too short for it.
    pub(super) fn is_typical(&self, length: u16) -> bool {
        u32::from(length) <= 2 * u32::from(self.length) + 64
    }
}

#[cfg(test)]
mod tests {
    use super::{PATIENCE_US, RoundTrip};

    #[test]
    fn a_steady_line_is_asked_after_one_and_a_quarter_round_trips() {
        let mut round_trip = RoundTrip::new();
        assert_eq!((round_trip.smoothed_us(), round_trip.timeout_us(0)), (None, PATIENCE_US));
        round_trip.measured(8_000, 100);
        assert_eq!((round_trip.smoothed_us(), round_trip.timeout_us(0)), (Some(8_000), 12_000));
        for _ in 0..20 {
            round_trip.measured(8_000, 100);
        }
        assert_eq!(round_trip.timeout_us(0), 10_000);
    }

    #[test]
    fn timeouts_double_up_to_the_patience_and_once_at_least() {
        let mut round_trip = RoundTrip::new();
        round_trip.measured(10, 0);
        assert_eq!(round_trip.timeout_us(0), 1_000);
        assert_eq!(round_trip.timeout_us(3), 8_000);
        assert_eq!(round_trip.timeout_us(255), PATIENCE_US);
        let mut slow = RoundTrip::new();
        slow.measured(400_000, 0);
        assert_eq!(slow.timeout_us(0), 600_000);
        assert_eq!(slow.timeout_us(9), 1_200_000);
        slow.measured(u32::MAX, 0);
        assert!(slow.timeout_us(9) < 120_000_000);
    }

    #[test]
    fn a_line_that_becomes_slow_is_trusted_after_one_measurement() {
        let mut round_trip = RoundTrip::new();
        (0..50).for_each(|_| round_trip.measured(5_000, 20));
        round_trip.measured(100_000, 20);
        assert!(round_trip.timeout_us(0) > 100_000);
    }

    #[test]
    fn a_much_longer_message_is_not_typical() {
        let mut round_trip = RoundTrip::new();
        assert!(round_trip.is_typical(64) && !round_trip.is_typical(65));
        round_trip.measured(5_000, 500);
        assert!(round_trip.is_typical(1064) && !round_trip.is_typical(1065));
    }
}
