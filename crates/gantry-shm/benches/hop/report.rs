//! The printed report: the machine, the table and the comparisons.
//!
//! Other programs parse the lines `ratio NAME VALUE`, one for each possible comparison. No other line begins with the
//! word "ratio".

use crate::{
    Options, Result,
    cpus::Cpus,
    payload::Touch,
    schedule::Measured,
    statistics::Statistics,
    ticks::Clock,
    variant::{Kind, Variant, Wait},
};
use std::io::Write;

/// The key of a row: contestant, payload size in bytes, touched words, number of cores, kind of waiting.
type RowKey = (Kind, usize, Touch, usize, Wait);
/// A comparison: its name, and the keys of the two rows that are divided.
type Comparison = (&'static str, RowKey, RowKey);

fn comparisons() -> [Comparison; 12] {
    use Kind::*;
    let polled = |kind, bytes| (kind, bytes, Touch::Lines, 2, Wait::Poll);
    let stamped = |kind, bytes| (kind, bytes, Touch::Stamped, 2, Wait::Poll);
    let blocking = |kind, touch| (kind, 64, touch, 1, Wait::Block);
    [
        ("polled-hop-48B/entry-floor", polled(Gantry, 48), polled(EntryFloor, 48)),
        ("polled-hop-256B/entry-floor", polled(Gantry, 256), polled(EntryFloor, 256)),
        ("polled-hop/floor", polled(Gantry, 64), polled(Floor, 64)),
        ("polled-hop-1KB/floor", polled(Gantry, 1 << 10), polled(Floor, 1 << 10)),
        ("polled-hop-4KB/floor", polled(Gantry, 4096), polled(Floor, 4096)),
        ("polled-hop/iceoryx2", polled(Gantry, 64), polled(Iceoryx, 64)),
        ("floor/one-line", polled(Floor, 64), stamped(OneLine(1), 64)),
        ("entry-floor-48B/one-line", polled(EntryFloor, 48), stamped(OneLine(1), 64)),
        ("blocking-hop/futex", blocking(Gantry, Touch::Lines), blocking(Futex, Touch::Stamped)),
        ("blocking-hop/iceoryx2", blocking(Gantry, Touch::Lines), blocking(Iceoryx, Touch::Lines)),
        ("publish-64-readers/1-reader", polled(Publish(64), 64), polled(Publish(1), 64)),
        ("hop-8MB/hop-1KB", stamped(Gantry, 8 << 20), stamped(Gantry, 1 << 10)),
    ]
}

/// Prints the report.
pub fn print(cpus: &Cpus, clock: &Clock, options: &Options, measured: &Measured) -> Result<()> {
    let mut output = std::io::stdout().lock();
    heading(&mut output, cpus, clock, options, measured)?;
    table(&mut output, clock, measured)?;
    writeln!(output)?;
    let find = |row: RowKey| -> Option<&Statistics> {
        let is = |v: &Variant| (v.kind, v.payload.bytes, v.payload.touch, v.cores, v.wait) == row;
        measured.rows.iter().find(|(variant, _)| is(variant)).map(|(_, statistics)| statistics)
    };
    for (name, own, other) in comparisons() {
        match (find(own), find(other)) {
            (Some(own), Some(other)) => writeln!(output, "ratio {name} {:.3}", own.ratio_to(other))?,
            _ => writeln!(output, "not measured: {name} (it needs two CPUs)")?,
        }
    }
    Ok(())
}

fn heading(output: &mut impl Write, cpus: &Cpus, clock: &Clock, options: &Options, measured: &Measured) -> Result<()> {
    let second = cpus.second.map_or("none".to_owned(), |second| second.to_string());
    writeln!(
        output,
        "Hops between two processes: half a round trip, ns. Publish: one loan, payload and publish, ns.\n"
    )?;
    writeln!(output, "machine   {}, Linux {}", model(), first_line("/proc/sys/kernel/osrelease"))?;
    writeln!(output, "CPUs      {} (this process; both, where a row has one core) and {second}", cpus.first)?;
    if cpus.second.is_none() {
        writeln!(output, "          ONLY ONE CPU IS USABLE: rows and ratios that need two are left out")?;
    }
    writeln!(output, "clock     {clock}")?;
    writeln!(
        output,
        "payload   lines: a word of each 64-byte line and the last word written, the last word read, in place"
    )?;
    writeln!(output, "          stamped: the first word written and read")?;
    writeln!(
        output,
        "wait      poll: polls in a loop; block: sleeps in the kernel at once; spin+block: polls for a while first"
    )?;
    writeln!(
        output,
        "readers   subscriptions in the other process that take every sample; the time of {} publishes,",
        crate::fan_out::PUBLISHES
    )?;
    writeln!(output, "          reclaims included, is one sample")?;
    writeln!(
        output,
        "turns     {} cycles in {} s, each with one turn of each row; a ratio is the median over",
        measured.cycles, options.seconds
    )?;
    writeln!(
        output,
        "          cycles of the ratio of both medians in a cycle (means of the middle quarter of the samples)\n"
    )?;
    Ok(())
}

fn table(output: &mut impl Write, clock: &Clock, measured: &Measured) -> Result<()> {
    writeln!(
        output,
        "{:<26} {:>8}  {:<8} {:>5}  {:<10} {:>9} {:>9} {:>9} {:>9}",
        "variant", "bytes", "payload", "cores", "wait", "n", "p50", "p99", "p99.9"
    )?;
    for (variant, statistics) in &measured.rows {
        let touch = match (variant.kind, variant.payload.touch) {
            (Kind::OneLine(_) | Kind::Futex, _) => "none",
            (_, Touch::Lines) => "lines",
            (_, Touch::Stamped) => "stamped",
        };
        let wait = match variant.wait {
            Wait::Poll => "poll",
            Wait::Block => "block",
            Wait::SpinThenBlock => "spin+block",
        };
        let ns = |fraction| statistics.percentile(fraction) * clock.ns_per_tick / variant.divisor() as f64;
        let (n, bytes) = (statistics.n(), variant.payload.bytes);
        write!(output, "{:<26} {bytes:>8}  {touch:<8} {:>5}  {wait:<10} {n:>9}", variant.name(), variant.cores)?;
        writeln!(output, " {:>9.1} {:>9.1} {:>9.1}", ns(0.5), ns(0.99), ns(0.999))?;
    }
    Ok(())
}

fn model() -> String {
    let facts = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = facts.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    model.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}

fn first_line(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default().lines().next().unwrap_or("of unknown release").to_owned()
}
