//! Conversion of times, sizes and rates to text with the most readable unit, and of text with a unit to a time.

use serde::Serialize;

/// The units of time that the parser accepts, with their length in nanoseconds.
const UNITS: [(&str, f64); 4] = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];

/// The unit of a number in files and tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Unit {
    /// A time in nanoseconds.
    #[serde(rename = "ns")]
    Time,
    /// A size of memory in KiB.
    #[serde(rename = "KiB")]
    Memory,
    /// A number of messages, or of messages per second.
    #[serde(rename = "")]
    Count,
    /// Bytes per second.
    #[serde(rename = "B/s")]
    BytesPerSecond,
    /// A fraction of the messages, in percent.
    #[serde(rename = "%")]
    Percent,
    /// Messages per second.
    #[serde(rename = "Hz")]
    Frequency,
    /// CPU time as a fraction of one core, in percent. Values are shown without the unit, because the column's heading
    /// has it.
    #[serde(rename = "% of a core")]
    PercentOfCore,
}

impl Unit {
    /// A value with its unit.
    #[must_use]
    pub fn show(self, value: f64) -> String {
        match self {
            Unit::Time => format_ns(value),
            Unit::Memory => format_mib(value),
            Unit::Count => format!("{value:.0}"),
            Unit::BytesPerSecond if value < 10e6 => format!("{:.2} MB/s", value / 1e6),
            Unit::BytesPerSecond => format!("{:.0} MB/s", value / 1e6),
            Unit::Frequency => format!("{value:.2} per second"),
            Unit::Percent if value == 0.0 => "0 %".to_owned(),
            Unit::Percent if value < 0.1 => format!("{value:.4} %"),
            Unit::Percent => format!("{value:.2} %"),
            Unit::PercentOfCore => format!("{value:.1}"),
        }
    }
}

/// A time in nanoseconds as text, with the most readable unit.
#[must_use]
pub fn format_ns(time_ns: f64) -> String {
    match time_ns.abs() {
        ns if ns < 999.5 => format!("{time_ns:.0} ns"),
        ns if ns < 999_950.0 => format!("{:.1} µs", time_ns / 1e3),
        ns if ns < 999_950_000.0 => format!("{:.2} ms", time_ns / 1e6),
        _ => format!("{:.2} s", time_ns / 1e9),
    }
}

/// A size of memory, given in KiB, as text in MiB.
#[must_use]
pub fn format_mib(kib: f64) -> String {
    format!("{:.1} MiB", kib / 1024.0)
}

/// A size in bytes as text, with the most readable unit.
#[must_use]
pub fn format_bytes(bytes: u64) -> String {
    let units = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match units.into_iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) if bytes.is_multiple_of(unit) => format!("{} {name}", bytes / unit),
        Some((name, unit)) => format!("{:.1} {name}", bytes as f64 / unit as f64),
        None => format!("{bytes} B"),
    }
}

/// A rate of messages as text. A rate of 0 means that messages are sent as fast as possible.
#[must_use]
pub fn format_rate(rate_hz: u32) -> String {
    if rate_hz == 0 { "as fast as possible".to_owned() } else { format!("{rate_hz} Hz") }
}

/// Parses a time with its unit, and returns nanoseconds; `None` if the text is not a time.
#[must_use]
pub fn parse_ns(text: &str) -> Option<f64> {
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic() || c == 'µ')?;
    let (number, unit) = text.split_at(unit_at);
    let (_, unit_ns) = UNITS.into_iter().find(|(name, _)| *name == unit || (*name == "us" && unit == "µs"))?;
    let number: f64 = number.trim_end().parse().ok()?;
    (0.0..1e18).contains(&(number * unit_ns)).then_some(number * unit_ns)
}

/// A count with its noun in the singular or plural.
#[must_use]
pub fn several(count: usize, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_choose_their_unit() {
        let shown = [0.0, 999.0, 1000.0, 12_345.0, 999_960.0, 1e9, -2e6].map(format_ns);
        assert_eq!(shown, ["0 ns", "999 ns", "1.0 µs", "12.3 µs", "1.00 ms", "1.00 s", "-2.00 ms"]);
    }
}
