//! `cargo bench -p gantry --bench realtime`: the cost of a control loop's message of 256 bytes between two threads of
//! one process, compared with a plain ring (`rtrb`), a queue behind a mutex, and the standard library's channel.
//!
//! Invariants:
//! - Everything is measured in one run. A cycle has a turn of milliseconds for each row of the table. Only figures of
//!   the same cycle are compared.
//! - Each message is written and read in place, every byte, by the same code for every carrier (Gantry, ring, queue or
//!   channel).
//! - A loss is an error: no sender is further ahead of its reader than the number of messages that all carriers keep
//!   (`queue`).

mod channel;
mod gantry;
mod locked;
mod message;
mod paced;
mod queue;
mod report;
mod ring;
mod row;
mod stamp;
mod stream;

use bench_support::{Benchmark, Error, Options, Result, cpus, cpus::Cpus, no_role, statistics, ticks};
use row::{PacedRow, Row};
use std::{process::ExitCode, time::Duration};

const REALTIME: Benchmark = Benchmark {
    name: "realtime",
    help: "\
Measures messages of 256 bytes between two threads of a process, beside rtrb, a mutex with a condition variable, and a channel.

cargo bench -p gantry --bench realtime [-- OPTIONS]

  --quick       measure for 5 seconds instead of 25
  --help        this
",
    seconds: 25.0, // the whole run, with its preparation, takes less than 30 s
    quick_seconds: 5.0,
};

fn main() -> ExitCode {
    REALTIME.main(no_role, measure)
}

fn measure(options: &Options) -> Result<()> {
    let cpus = Cpus::of_this_process()?;
    let clock = ticks::Clock::calibrate(Duration::from_millis(50));
    // Gantry's control thread and the thread that wakes readers start here, before this thread is pinned. Each new
    // thread inherits the CPUs of its creator, so these two may use all CPUs.
    let _node = ::gantry::Node::new("realtime_bench")?;
    drop(gantry::pair(1, ::gantry::PublishMode::Async { period: row::PERIOD }, false)?);
    Cpus::pin(&[cpus.first])?;
    let (mut rows, mut paced) = (Row::all(&cpus), PacedRow::all());
    let cycles = options.cycles(|_| {
        for row in &mut rows {
            let mut samples = row.turn(&cpus)?;
            row.statistics.add_turn(&mut samples);
        }
        paced.iter_mut().try_for_each(|row| row.turn(&cpus))
    })?;
    report::print(&cpus, &clock, options, cycles, &rows, &paced)
}
