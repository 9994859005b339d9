//! Times, sizes and rates as text: printed with the unit that shows them best; times are read with their unit.

/// The units that are read, nanoseconds.
const UNITS: [(&str, f64); 4] = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];

/// A time in nanoseconds, with the unit that shows it best.
#[must_use]
pub fn format_ns(time_ns: f64) -> String {
    match time_ns.abs() {
        ns if ns < 999.5 => format!("{time_ns:.0} ns"),
        ns if ns < 999_950.0 => format!("{:.1} µs", time_ns / 1e3),
        ns if ns < 999_950_000.0 => format!("{:.2} ms", time_ns / 1e6),
        _ => format!("{:.2} s", time_ns / 1e9),
    }
}

/// A size of memory in MiB.
#[must_use]
pub fn format_mib(kib: f64) -> String {
    format!("{:.1} MiB", kib / 1024.0)
}

/// A rate of messages; 0 is as fast as possible.
#[must_use]
pub fn format_rate(rate_hz: u32) -> String {
    if rate_hz == 0 { "as fast as possible".to_owned() } else { format!("{rate_hz} Hz") }
}

/// A time with its unit, in nanoseconds; `None` if the text is no time.
#[must_use]
pub fn parse_ns(text: &str) -> Option<f64> {
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic() || c == 'µ')?;
    let (number, unit) = text.split_at(unit_at);
    let (_, unit_ns) = UNITS.into_iter().find(|(name, _)| *name == unit || (*name == "us" && unit == "µs"))?;
    let number: f64 = number.trim_end().parse().ok()?;
    (0.0..1e18).contains(&(number * unit_ns)).then_some(number * unit_ns)
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
