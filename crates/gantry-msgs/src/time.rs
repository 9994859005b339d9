//! Conversions between the times and durations of `builtin_interfaces` and the types of the standard library.
//!
//! As in ROS 2's system time, a time is counted from 1970. Seconds are an `i32`, so conversions saturate: times are
//! between 1901-12-13 and 2038-01-19, and durations are at most 68 years.

use crate::builtin_interfaces::msg::Duration;
use core::{fmt, time};

/// An error: the duration is below 0, which [`core::time::Duration`] cannot represent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NegativeDuration(Duration);

/// The seconds, rounded down, and the remaining nanoseconds. Both are limited to the range of the message.
fn clamped(seconds: i128, nanoseconds: u32) -> (i32, u32) {
    match i32::try_from(seconds) {
        Ok(seconds) => (seconds, nanoseconds),
        Err(_) if seconds < 0 => (i32::MIN, 0),
        Err(_) => (i32::MAX, 999_999_999),
    }
}

impl From<time::Duration> for Duration {
    fn from(duration: time::Duration) -> Duration {
        let (sec, nanosec) = clamped(duration.as_secs().into(), duration.subsec_nanos());
        Duration { sec, nanosec }
    }
}

impl TryFrom<Duration> for time::Duration {
    type Error = NegativeDuration;

    fn try_from(duration: Duration) -> Result<time::Duration, NegativeDuration> {
        let seconds = u64::try_from(duration.sec).map_err(|_| NegativeDuration(duration))?;
        Ok(time::Duration::new(seconds, duration.nanosec)) // `new` carries nanoseconds above a second over
    }
}

impl fmt::Display for NegativeDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NegativeDuration(Duration { sec, nanosec }) = self;
        write!(f, "the duration is {sec} s and {nanosec} ns, which is below 0; use its fields")
    }
}

impl core::error::Error for NegativeDuration {}

#[cfg(feature = "std")]
mod system_time {
    use super::{clamped, time::Duration};
    use crate::builtin_interfaces::msg::Time;
    use std::time::{SystemTime, UNIX_EPOCH};

    impl From<SystemTime> for Time {
        /// ```
        /// use gantry_msgs::std_msgs::msg::Header;
        /// use std::time::SystemTime;
        ///
        /// let header = Header { stamp: SystemTime::now().into(), ..Header::default() };
        /// assert!(SystemTime::from(header.stamp) <= SystemTime::now());
        /// ```
        fn from(time: SystemTime) -> Time {
            let (sec, nanosec) = match time.duration_since(UNIX_EPOCH) {
                Ok(after) => clamped(after.as_secs().into(), after.subsec_nanos()),
                Err(before) => {
                    let ns = before.duration().as_nanos() as i128; // at most 2^64 s
                    clamped((-ns).div_euclid(1_000_000_000), (-ns).rem_euclid(1_000_000_000) as u32)
                }
            };
            Time { sec, nanosec }
        }
    }

    impl From<Time> for SystemTime {
        fn from(time: Time) -> SystemTime {
            let nanoseconds = Duration::from_nanos(time.nanosec.into());
            let seconds = Duration::from_secs(time.sec.unsigned_abs().into());
            if time.sec < 0 { UNIX_EPOCH - seconds + nanoseconds } else { UNIX_EPOCH + seconds + nanoseconds }
        }
    }
}
