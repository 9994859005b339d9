//! Stamps: the time and the id that a publisher writes into every message and a subscription reads.

/// What a publisher writes into every message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The time of sending, ns of CLOCK_MONOTONIC.
    pub time_ns: i64,
    /// The number of the message in the publisher's schedule; the first is 1. A message that is refused leaves a gap.
    pub id: u64,
    /// Messages per second, 0 if as many as possible; only iRobot's messages carry it.
    pub rate_hz: u32,
}

/// What a subscription reads from every message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamped {
    /// When it was sent, ns of CLOCK_MONOTONIC.
    pub time_ns: i64,
    /// The number of the message, as far as it carries it: see [`Benchmark::LAST_ID`].
    pub id: u64,
}
