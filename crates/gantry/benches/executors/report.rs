//! The printed report: the machine, two tables, the comparisons.
//!
//! Programs read the lines that begin with "ratio ": each is exactly `ratio NAME LOAD VALUE`, and no other line
//! begins with this word. LOAD is TOPICS@RATE, with `+TIMERStimers` if there are idle timers, or `all`: the
//! geometric mean of all loads.

use crate::{
    Result,
    blocking::Blocking,
    cpus::Cpus,
    idle::Idle,
    kind::Kind,
    row::{Load, Row, TIMERS},
    statistics::Statistics,
    usage::Usage,
};
use std::io::Write;

/// The executors that are compared with the single-threaded executor.
const COMPARED: [Kind; 2] = [Kind::Events, Kind::MultiThreaded];

/// Prints the report.
pub fn print(cpus: &Cpus, cycles: usize, rows: &[Row], idle: &[Idle], blocking: Option<&Blocking>) -> Result<()> {
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
    write!(output, "\n{:>20} {:<15} {:>9}", "load", "", "CPU ns")?;
    writeln!(output, " {:>9} {:>9} {:>9} {:>9} {:>9}", "p50 µs", "p99 µs", "p99.9 µs", "max µs", "delivered")?;
    for Row { kind, load, statistics } in rows {
        write!(output, "{:>20} {:<15} {:>9.0}", load.name(), kind.name(), statistics.cpu_ns())?;
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
    for timers in TIMERS.into_iter().filter(|&timers| timers > 0) {
        print_timers(&mut output, rows, timers)?;
    }
    if let Some(blocking) = blocking {
        writeln!(output, "ratio blocking/4-single-threaded-throughput all {:.3}", blocking.ratio())?;
    }
    Ok(())
}

/// Prints, for each executor, the ratio of the CPU time with this number of idle timers to the CPU time without timers.
fn print_timers(output: &mut impl Write, rows: &[Row], timers: usize) -> Result<()> {
    let name = format!("timers-{timers}/0");
    let mut all = Vec::new();
    for kind in Kind::ALL {
        let ratios = rows.iter().filter(|row| row.kind == kind && row.load.timers == timers).filter_map(|row| {
            let base = Load { timers: 0, ..row.load };
            let base = rows.iter().find(|base_row| base_row.kind == kind && base_row.load == base)?;
            Some(row.statistics.cpu_ns() / base.statistics.cpu_ns())
        });
        let ratios: Vec<f64> = ratios.collect();
        if !ratios.is_empty() {
            writeln!(output, "ratio {name} {} {:.3}", kind.name(), geometric_mean(&ratios))?;
        }
        all.extend(ratios);
    }
    if !all.is_empty() {
        writeln!(output, "ratio {name} all {:.3}", geometric_mean(&all))?;
    }
    Ok(())
}

fn geometric_mean(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp()
}

fn print_ratios(
    output: &mut impl Write,
    rows: &[Row],
    kind: Kind,
    what: &str,
    figure: fn(&Statistics) -> f64,
) -> Result<()> {
    let name = format!("{}/{}-{what}", kind.name(), Kind::SingleThreaded.name());
    let mut ratios = Vec::new();
    for row in rows.iter().filter(|row| row.kind == kind) {
        let base = rows.iter().find(|base| base.kind == Kind::SingleThreaded && base.load == row.load);
        let Some(base) = base else { continue };
        let ratio = figure(&row.statistics) / figure(&base.statistics);
        writeln!(output, "ratio {name} {} {ratio:.3}", row.load.name())?;
        ratios.push(ratio);
    }
    if !ratios.is_empty() {
        writeln!(output, "ratio {name} all {:.3}", geometric_mean(&ratios))?;
    }
    Ok(())
}
