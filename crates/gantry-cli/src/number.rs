//! Numbers in command-line arguments.

use std::time::Duration;

/// The longest time to wait: a year, so that the end of the wait is always a valid time.
const MAX_SECONDS: u64 = 365 * 24 * 60 * 60;

/// Parses a positive number of seconds.
pub fn positive_seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "a number of seconds is needed, as 1.5".to_owned())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(Duration::ZERO) => Err("it must be more than 0".to_owned()),
        Ok(duration) if duration <= Duration::from_secs(MAX_SECONDS) => Ok(duration),
        _ if seconds > 0.0 => Err(format!("it may be at most {MAX_SECONDS} seconds, which is a year")),
        _ => Err("it must be more than 0".to_owned()),
    }
}

/// Parses a number of messages per second.
pub fn positive_rate(text: &str) -> Result<f64, String> {
    let rate: f64 = text.parse().map_err(|_| "a number of messages in a second is needed".to_owned())?;
    // The period has to fit in a number of nanoseconds.
    if (1e-6..=1e9).contains(&rate) {
        Ok(rate)
    } else {
        Err("a rate is from 0.000001 to 1000000000 messages in a second".to_owned())
    }
}
