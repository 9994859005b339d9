//! `cargo bench -p gantry --bench unsized`: the cost of ROS 2 messages of variable length, read and written in place.
//! It is compared with plain structs of the same payload and with serialisation.
//!
//! A *hop* is half a round trip between two processes: this program, and the same program started again. Invariants:
//! - Everything is measured in one run. A cycle has a turn of milliseconds for each row of the table. Only figures of
//!   the same cycle are compared.
//! - One function writes the payloads of all messages, and one function reads them (`touch`).
//! - A process sleeps in the kernel while the other process has its turn (`peer`). Topic names contain the process's
//!   number, so that two runs at the same time are not matched.

mod copies;
mod hop;
mod local;
mod message;
mod play;
mod report;
mod row;
mod touch;

use bench_support::{Benchmark, Error, Options, Result, cpus, cpus::Cpus, peer, statistics, ticks};
use std::{process::ExitCode, time::Duration};

const UNSIZED: Benchmark = Benchmark {
    name: "unsized",
    help: "\
Measures ROS 2's messages of any length in place, beside plain arrays of the same payload and beside serialisation.

cargo bench -p gantry --bench unsized [-- OPTIONS]

  --quick       measure for 5 seconds instead of 20
  --help        this
",
    seconds: 20.0, // the whole run, with its preparation, takes less than 30 s
    quick_seconds: 5.0,
};

fn main() -> ExitCode {
    UNSIZED.main(play::play, measure)
}

fn measure(options: &Options) -> Result<()> {
    let cpus = Cpus::of_this_process()?;
    let clock = ticks::Clock::calibrate(Duration::from_millis(50));
    let mut peer = peer::Peer::start(&std::process::id().to_string(), &cpus)?;
    let mut rows = row::all(&mut peer, &cpus)?;
    Cpus::pin(&[cpus.first])?;
    let mut samples = Vec::new();
    // The first turns are not counted, because they fault in pages on both sides.
    for row in &mut rows {
        row.turn(&mut peer, &mut samples)?;
    }
    let cycles = options.cycles(|_| {
        for row in &mut rows {
            samples.clear();
            row.turn(&mut peer, &mut samples)?;
            row.statistics.add_turn(&mut samples);
        }
        Ok(())
    })?;
    peer.end()?;
    report::print(&cpus, &clock, options, cycles, &rows)
}
