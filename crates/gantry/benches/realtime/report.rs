//! The printed report: the machine, two tables, the comparisons.
//!
//! Programs read the lines that begin with "ratio ": each is exactly `ratio NAME VALUE`, and no other line begins
//! with this word.

use crate::{
    Options, Result,
    cpus::Cpus,
    row::{Carrier, GANTRY, GANTRY_ASYNC, PERIOD, PacedRow, Row, Way},
    statistics::{Statistics, median},
    stream::BLOCK,
    ticks::Clock,
};
use std::io::Write;

/// Prints the report.
pub fn print(
    cpus: &Cpus,
    clock: &Clock,
    options: &Options,
    cycles: usize,
    rows: &[Row],
    paced: &[PacedRow],
) -> Result<()> {
    let output = &mut std::io::stdout().lock();
    writeln!(output, "Messages of 256 bytes in one process, written and read in place. All times in ns.\n")?;
    match cpus.second {
        Some(second) => writeln!(output, "CPUs      {} (sender) and {second} (reader)", cpus.first)?,
        None => writeln!(output, "CPUs      ONLY {} IS USABLE: rows that need two are left out", cpus.first)?,
    }
    writeln!(output, "clock     {clock}")?;
    writeln!(output, "turns     {cycles} cycles in {} s, each with one turn of each row; a ratio is", options.seconds)?;
    writeln!(
        output,
        "          the median over cycles of the ratio of both turns' medians (means of their middle quarter)"
    )?;
    writeln!(
        output,
        "gantry    reliable, keep last; each message is stamped with the time, unlike the other programs' messages;"
    )?;
    writeln!(output, "          async: the publisher makes no system call; caller-time: it reads no clock\n")?;
    back_to_back(output, clock, rows)?;
    writeln!(output)?;
    at_2_khz(output, clock, paced)?;
    writeln!(output)?;
    ratios(output, rows, paced)
}

fn back_to_back(output: &mut impl Write, clock: &Clock, rows: &[Row]) -> Result<()> {
    writeln!(
        output,
        "Back to back, the reader polls. Stream, and one thread: the mean of {BLOCK} messages is one sample."
    )?;
    header(output, &["p50", "p99", "p99.9", "max", "n"])?;
    for row in rows {
        latency(output, clock, &row.statistics, row.way.divisor())?;
        writeln!(output, "  {:<24} {}", row.carrier.name(), row.way.name())?;
    }
    Ok(())
}

fn at_2_khz(output: &mut impl Write, clock: &Clock, paced: &[PacedRow]) -> Result<()> {
    writeln!(output, "At 2 kHz, the reader sleeps. First the time from sender to reader; then the sender's own time;")?;
    writeln!(output, "then the CPU time of a message: sender, reader, thread that wakes readers (async, {PERIOD:?}).")?;
    header(output, &["p50", "p99", "p99.9", "max", "n", "p50", "p99.9", "max", "sends", "reads", "wakes"])?;
    for row in paced {
        latency(output, clock, &row.latency, 1)?;
        for fraction in [0.5, 0.999, 1.0] {
            write!(output, " {:>9.0}", row.sending.percentile(fraction) * clock.ns_per_tick)?;
        }
        for thread in 0..3 {
            write!(output, " {:>9.0}", median(row.cpu_ns.iter().map(|cpu_ns| cpu_ns[thread])))?;
        }
        writeln!(output, "  {}", row.carrier.name())?;
    }
    Ok(())
}

fn header(output: &mut impl Write, columns: &[&str]) -> Result<()> {
    columns.iter().try_for_each(|column| write!(output, " {column:>9}"))?;
    Ok(writeln!(output)?)
}

fn latency(output: &mut impl Write, clock: &Clock, statistics: &Statistics, divisor: u64) -> Result<()> {
    for fraction in [0.5, 0.99, 0.999, 1.0] {
        write!(output, " {:>9.1}", statistics.percentile(fraction) * clock.ns_per_tick / divisor as f64)?;
    }
    Ok(write!(output, " {:>9}", statistics.n())?)
}

fn ratios(output: &mut impl Write, rows: &[Row], paced: &[PacedRow]) -> Result<()> {
    for (name, way) in [
        ("publish-take", Way::OneAtATime),
        ("stream", Way::Stream),
        ("publish-take-alone", Way::Alone),
        ("publish-alone", Way::Sending),
    ] {
        let of = |carrier| rows.iter().find(|row| (row.way, row.carrier) == (way, carrier));
        for own in rows.iter().filter(|row| row.way == way) {
            let Some(variant) = own.carrier.name().strip_prefix("gantry") else { continue };
            let others = [Carrier::Rtrb, Carrier::Mutex, Carrier::Channel];
            for other in &others[..if own.carrier == GANTRY { 3 } else { 1 }] {
                let Some(row) = of(*other) else { continue };
                let ratio = own.statistics.ratio_to(&row.statistics);
                writeln!(output, "ratio {name}{variant}/{} {ratio:.3}", other.name())?;
            }
        }
    }
    let find = |carrier| paced.iter().find(|row| row.carrier == carrier);
    let Some(own) = find(GANTRY) else { return Ok(()) };
    for other in [Carrier::Rtrb, Carrier::Mutex, Carrier::Channel] {
        let Some(row) = find(other) else { continue };
        writeln!(output, "ratio latency/{} {:.3}", other.name(), own.latency.ratio_to(&row.latency))?;
        let jitter = jitter(&own.latency) / jitter(&row.latency);
        writeln!(output, "ratio jitter-p99.9/{} {jitter:.3}", other.name())?;
    }
    let Some(row) = find(GANTRY_ASYNC) else { return Ok(()) };
    let cpu_ns = |row: &PacedRow| median(row.cpu_ns.iter().map(|cpu_ns| cpu_ns.iter().sum()));
    writeln!(output, "ratio async-latency/sync {:.3}", row.latency.ratio_to(&own.latency))?;
    writeln!(output, "ratio async-publish/sync {:.3}", row.sending.ratio_to(&own.sending))?;
    writeln!(output, "ratio async-cpu/sync {:.3}", cpu_ns(row) / cpu_ns(own))?;
    Ok(())
}

/// The jitter: the latency at the 99.9th percentile minus the median.
fn jitter(latency: &Statistics) -> f64 {
    latency.percentile(0.999) - latency.percentile(0.5)
}
