//! `cargo bench -p gantry-shm --features iceoryx2 --bench hop`: the cost of a hop, compared with its lowest possible
//! cost and with other libraries.
//!
//! A *hop* is half a round trip between two processes: this program, and the same program, started again as the other
//! side. Invariants:
//! - All contestants are measured in one run, in turns of milliseconds (`schedule`). A machine, above all a virtual
//!   one, may move a cache line in 50 ns now and in 100 ns a minute later, so figures of two runs cannot be compared.
//! - All contestants access the same words of their payload, by the functions of `payload`.
//! - A process whose turn it is not sleeps in the kernel (`peer`), and no file stays (`root`).

mod area;
mod contestant;
mod entry_floor;
mod fan_out;
mod floor;
mod futexes;
mod gantry;
mod iceoryx;
mod one_line;
mod payload;
mod play;
mod report;
mod root;
mod schedule;
mod variant;

use bench_support::{Benchmark, Error, Options, Result, cpus, peer, statistics, ticks};
use std::{process::ExitCode, time::Duration};

const HOP: Benchmark = Benchmark {
    name: "hop",
    help: "\
Measures hops between two processes: Gantry beside the floors (the least cost of a hop), raw futexes and iceoryx2.

cargo bench -p gantry-shm --features iceoryx2 --bench hop [-- OPTIONS]

  --seconds N   measure for N seconds (default 90; set-up comes on top)
  --quick       measure for 15 seconds
  --help        print this help
",
    seconds: 90.0, // the whole run, with set-up, takes less than two minutes
    quick_seconds: 15.0,
};

fn main() -> ExitCode {
    HOP.main(play::play, measure)
}

fn measure(options: &Options) -> Result<()> {
    let cpus = cpus::Cpus::of_this_process()?;
    let root = root::Root::create()?;
    let clock = ticks::Clock::calibrate(Duration::from_millis(100));
    let mut turns = schedule::Schedule::new(&root, &cpus)?;
    let measured = turns.run(options)?;
    turns.end()?;
    report::print(&cpus, &clock, options, &measured)
}
