//! The clocks of the agent: a monotonic clock for deadlines, and the time of day for the clients.

use gantry_xrce::{time::Instant, wire::Time};
use std::time::{Duration, SystemTime};

/// A monotonic clock, whose origin is the start of the agent.
#[derive(Debug)]
pub enum Clock {
    /// The clock runs; the field is its origin.
    Running(std::time::Instant),
    /// The clock is stopped at this time, in microseconds. Only a test moves it.
    #[cfg(feature = "testing")]
    Stopped(std::sync::atomic::AtomicU64),
}

impl Clock {
    pub fn new() -> Self {
        Self::Running(std::time::Instant::now())
    }

    pub fn now(&self) -> Instant {
        Instant::from_us(match self {
            Self::Running(origin) => origin.elapsed().as_micros() as u64,
            #[cfg(feature = "testing")]
            Self::Stopped(us) => us.load(std::sync::atomic::Ordering::Relaxed), // Relaxed: the counter has no partner
        })
    }

    /// Converts `instant` to a time of `std`. Returns `None` for a stopped clock, which never reaches the instant by
    /// itself.
    pub fn to_std(&self, instant: Instant) -> Option<std::time::Instant> {
        match self {
            Self::Running(origin) => origin.checked_add(Duration::from_micros(instant.as_us())),
            #[cfg(feature = "testing")]
            Self::Stopped(_) => None,
        }
    }
}

/// The time of day since 1970, for clients that ask for it.
pub fn time_of_day() -> Time {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Time::from_ns(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}
