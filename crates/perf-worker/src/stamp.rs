//! Stamps: the time and the id that a publisher writes into every message and that a subscription reads.

/// The stamp that a publisher writes into a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The time of sending, ns of CLOCK_MONOTONIC.
    pub time_ns: i64,
    /// The number of the message in the publisher's schedule, from 1. A message that the middleware refuses leaves a
    /// gap.
    pub id: u64,
    /// The publisher's rate in messages per second; 0 means as fast as possible. Only the message types of iRobot's
    /// benchmark carry it.
    pub rate_hz: u32,
}

/// The part of a stamp that a subscription reads from a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamped {
    /// The time of sending, ns of CLOCK_MONOTONIC.
    pub time_ns: i64,
    /// The id of the message, at most the largest id that the message type can carry.
    pub id: u64,
}
