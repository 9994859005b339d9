//! Stamps: the time and the id that a publisher writes into every message and a subscription reads.

/// The stamp that a publisher writes into a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The time of sending, ns of CLOCK_MONOTONIC.
    pub time_ns: i64,
    /// The number of the message in the publisher's schedule; the first is 1. A message that is refused leaves a gap.
    pub id: u64,
    /// Messages per second; 0 means as many as possible. Only iRobot's messages carry the rate.
    pub rate_hz: u32,
}

/// The part of a stamp that a subscription reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamped {
    /// The time of sending, ns of CLOCK_MONOTONIC.
    pub time_ns: i64,
    /// The id of the message, up to the largest that it can carry.
    pub id: u64,
}
