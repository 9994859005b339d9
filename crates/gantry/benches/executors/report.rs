//! The printed report: the machine, two tables, the comparisons.
//!
//! Programs read the lines that begin with "ratio ": each is exactly `ratio NAME LOAD VALUE`, and no other line begins
//! so. LOAD is TOPICS@RATE, or `all`: the geometric mean of all loads.

use crate::{Result, cpus::Cpus, idle::Idle, kind::Kind, row::Row, statistics::Statistics, usage::Usage};
use std::io::Write;

/// The executors that are compared with the single-threaded one.
const COMPARED: [Kind; 2] = [Kind::Events, Kind::MultiThreaded];

/// Prints the report.
pub fn print(cpus: &Cpus, cycles: usize, rows: &[Row], idle: &[Idle]) -> Result<()> {
    let mut output = std::io::stdout().lock();
    writeln!(output, "CPUs      {:?}, of both processes", cpus.all())?;
    writeln!(output, "turns     {cycles} cycles, each with one turn of each row")?;
    writeln!(
        output,
        "CPU       time of the executor's threads, user and system, for each message: lower quartile of turns"
    )?;
    writeln!(output, "latency   from the publisher's stamp to the callback, of all turns together")?;
    writeln!(
        output,
        "ratios    of the lower quartiles of turns: of CPU time, and of the 99th percentile of latency\n"
    )?;
    for Idle { kind, topics, usage: Usage { cpu_ms, control_ms, wakes } } in idle {
        write!(output, "idle      {:<15} {topics} topics: {cpu_ms:.2} ms of CPU a second, ", kind.name())?;
        writeln!(output, "{control_ms:.2} of them in the control thread; {wakes:.0} wake-ups")?;
    }
    write!(output, "\n{:>10} {:<15} {:>9}", "load", "", "CPU ns")?;
    writeln!(output, " {:>9} {:>9} {:>9} {:>9} {:>9}", "p50 µs", "p99 µs", "p99.9 µs", "max µs", "delivered")?;
    for Row { kind, load, statistics } in rows {
        write!(output, "{:>10} {:<15} {:>9.0}", load.name(), kind.name(), statistics.cpu_ns())?;
        for latency_ns in statistics.latencies_ns([0.5, 0.99, 0.999, 1.0]) {
            write!(output, " {:>9.1}", latency_ns / 1e3)?;
        }
        let (delivered, published) = (statistics.delivered(), statistics.published);
        let lost = if delivered == published { String::new() } else { format!(" OF {published}") };
        writeln!(output, " {delivered:>9}{lost}")?;
    }
    writeln!(output)?;
    for kind in COMPARED {
        print_ratios(&mut output, rows, kind, "cpu", Statistics::cpu_ns)?;
        print_ratios(&mut output, rows, kind, "p99", Statistics::p99_ns)?;
    }
    Ok(())
}

fn print_ratios(
    output: &mut impl Write,
    rows: &[Row],
    kind: Kind,
    what: &str,
    figure: fn(&Statistics) -> f64,
) -> Result<()> {
    let name = format!("{}/{}-{what}", kind.name(), Kind::SingleThreaded.name());
    let (mut logarithms, mut count) = (0.0, 0);
    for row in rows.iter().filter(|row| row.kind == kind) {
        let base = rows.iter().find(|base| base.kind == Kind::SingleThreaded && base.load == row.load);
        let Some(base) = base else { continue };
        let ratio = figure(&row.statistics) / figure(&base.statistics);
        writeln!(output, "ratio {name} {} {ratio:.3}", row.load.name())?;
        (logarithms, count) = (logarithms + ratio.ln(), count + 1);
    }
    if count > 0 {
        writeln!(output, "ratio {name} all {:.3}", (logarithms / f64::from(count)).exp())?;
    }
    Ok(())
}
