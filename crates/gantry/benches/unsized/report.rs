//! The printed report: the machine, a table, the comparisons.
//!
//! Programs read the lines that begin with "ratio ": each is exactly `ratio NAME VALUE`, and no other line begins
//! with this word.

use crate::{Options, Result, cpus::Cpus, row::Row, ticks::Clock};
use std::io::Write;

/// The comparisons: each has the names of the two rows whose ratio is printed.
const COMPARISONS: [(&str, &str); 8] = [
    ("image-6MB", "array-6MB"),
    ("pointcloud2-4MB", "array-4MB"),
    ("image-6MB-stamped", "array-6MB-stamped"),
    ("pointcloud2-4MB-stamped", "array-4MB-stamped"),
    ("copied-4MB", "two-copies-and-wake-up"),
    ("view-pointcloud2", "deserialise"),
    ("build-pointcloud2", "serialise"),
    ("header", "plain-32B"),
];

/// Prints the report.
pub fn print(cpus: &Cpus, clock: &Clock, options: &Options, cycles: usize, rows: &[Row]) -> Result<()> {
    let mut output = std::io::stdout().lock();
    writeln!(output, "Hops between two processes: half a round trip. All times in ns, for one hop or one message.\n")?;
    match cpus.second {
        Some(second) => {
            writeln!(output, "CPUs      {} (this process) and {second}, polled except for copies", cpus.first)?
        }
        None => writeln!(output, "CPUs      ONLY {} IS USABLE: both processes share it and sleep", cpus.first)?,
    }
    writeln!(output, "clock     {clock}")?;
    writeln!(output, "turns     {cycles} cycles in {} s, each with one turn of each row; a ratio is", options.seconds)?;
    writeln!(output, "          the median over cycles of the ratio of both turns' lower quartiles\n")?;
    write!(output, "{:>11} {:>11} {:>11} {:>11} {:>8}  ", "p25", "p50", "p90", "p99", "n")?;
    writeln!(output, "{:<24} {:>8}  payload", "variant", "bytes")?;
    for row in rows {
        let ns = |ticks| ticks * clock.ns_per_tick / row.divisor as f64;
        let [p25, p50, p90, p99] = [0.25, 0.5, 0.9, 0.99].map(|fraction| ns(row.statistics.percentile(fraction)));
        write!(output, "{p25:>11.1} {p50:>11.1} {p90:>11.1} {p99:>11.1} {:>8}  ", row.statistics.n())?;
        writeln!(output, "{:<24} {:>8}  {}", row.name, row.bytes, row.way)?;
    }
    writeln!(output)?;
    let find = |name| rows.iter().find(|row| row.name == name).map(|row| &row.statistics);
    for (own, other) in COMPARISONS {
        let (Some(own_row), Some(other_row)) = (find(own), find(other)) else { continue };
        // The samples of the two rows may consist of different numbers of messages.
        let divisor = |name| rows.iter().find(|row| row.name == name).map_or(1, |row| row.divisor) as f64;
        let ratio = own_row.ratio_to(other_row) * divisor(other) / divisor(own);
        writeln!(output, "ratio {own}/{other} {}", precise(ratio))?;
    }
    Ok(())
}

/// The ratio as text with three decimals, or with six if it is small.
fn precise(ratio: f64) -> String {
    if ratio < 0.01 { format!("{ratio:.6}") } else { format!("{ratio:.3}") }
}
