//! Numbers in readable form.

use std::time::Duration;

/// A number of bytes with a unit, in powers of 1000: "1.4 GB".
#[must_use]
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    let (mut value, mut unit) = (bytes as f64, 0);
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    match (unit, value) {
        (0, _) => format!("{bytes} B"),
        (_, value) if value < 9.95 => format!("{value:.1} {}", UNITS[unit]),
        (_, value) => format!("{value:.0} {}", UNITS[unit]),
    }
}

/// Parses a number of bytes from the command line, with or without a unit in powers of 1024: "512M".
///
/// # Errors
/// The reason, as a sentence: the text is not a number, or the number is 0 or too large.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.char_indices().next_back() {
        Some((at, 'k' | 'K')) => (&text[..at], 1 << 10),
        Some((at, 'M')) => (&text[..at], 1 << 20),
        Some((at, 'G')) => (&text[..at], 1 << 30),
        _ => (text, 1u64),
    };
    let bytes = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit)).filter(|bytes| *bytes > 0);
    bytes.ok_or_else(|| format!("'{text}' is not a number of bytes, as 500000, 64k, 512M or 2G"))
}

/// Parses a number of seconds from the command line, from 0 to a billion.
///
/// # Errors
/// The reason, as a sentence: the text is not such a number.
pub fn parse_seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| (0.0..=1e9).contains(seconds));
    seconds.ok_or_else(|| format!("'{text}' is not a number of seconds from 0 to 1000000000"))
}

/// A duration in nanoseconds as text in seconds: "12.345 s".
#[must_use]
pub fn seconds(ns: u64) -> String {
    format!("{:.3} s", Duration::from_nanos(ns).as_secs_f64())
}

/// A time in nanoseconds since 1970 as text in UTC: "2026-11-28 10:41:40.123 UTC".
#[must_use]
pub fn utc(ns: u64) -> String {
    let (days, of_day) = (ns / 86_400_000_000_000, ns / 1_000_000 % 86_400_000);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (of_day / 3_600_000, of_day / 60_000 % 60, of_day / 1000 % 60);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{:03} UTC", of_day % 1000)
}

/// The date of a day number (days since 1970), by Hinnant's `civil_from_days`.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_two_or_three_digits_and_times_are_dates() {
        let texts = [0, 999, 1000, 9_940, 9_960, 999_499, 999_500, 1_400_000_000].map(bytes);
        assert_eq!(texts, ["0 B", "999 B", "1.0 kB", "9.9 kB", "10 kB", "999 kB", "1.0 MB", "1.4 GB"]);
        assert_eq!(["7", "64k", "2G"].map(parse_bytes), [Ok(7), Ok(65_536), Ok(2 << 30)]);
        assert!(["0", "G", "2T", "-1", "99999999999G"].iter().all(|text| parse_bytes(text).is_err()));
        assert_eq!(utc(951_782_400_123_000_000), "2000-02-29 00:00:00.123 UTC");
        assert_eq!(utc(1_795_862_500_000_000_000), "2026-11-28 10:41:40.000 UTC");
    }
}
