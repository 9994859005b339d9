//! The agent's clocks: one that does not jump, for deadlines, and the time of day, for the clients.

use gantry_xrce::{time::Instant, wire::Time};
use std::time::{Duration, SystemTime};

/// A clock whose origin is the start of the agent.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin: std::time::Instant,
}

impl Clock {
    pub fn new() -> Self {
        Self { origin: std::time::Instant::now() }
    }

    pub fn now(&self) -> Instant {
        Instant::from_us(self.origin.elapsed().as_micros() as u64)
    }

    /// The same point in time, as `std` has it.
    pub fn to_std(self, instant: Instant) -> Option<std::time::Instant> {
        self.origin.checked_add(Duration::from_micros(instant.as_us()))
    }
}

/// The time of day, which clients ask for: nanoseconds since 1970.
pub fn time_of_day() -> Time {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Time::from_ns(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}
