//! `cargo bench -p gantry --bench unsized`: what ROS 2's messages of any length cost in place, beside plain structs of the same
//! payload and beside serialisation.
//!
//! For whoever changes `gantry-cdr` or the typed API, and for CI (`--quick`). A *hop* is half a round trip between two
//! processes, this program and itself started again as its other side. Invariants:
//! - Everything is measured in one run, in turns of milliseconds: what is compared is compared within such a cycle.
//! - Payloads are written and read by one function each (`touch`), whatever message they are part of.
//! - Who is not on turn sleeps in the kernel (`peer`). Topics have the process's number in their names, so that runs do not meet.

#[path = "../../../gantry-shm/benches/hop/cpus.rs"]
mod cpus;
mod hop;
mod local;
mod message;
mod options;
#[path = "../../../gantry-shm/benches/hop/peer.rs"]
mod peer;
mod play;
mod report;
mod row;
mod statistics;
#[path = "../../../gantry-shm/benches/hop/ticks.rs"]
mod ticks;
mod touch;

use cpus::Cpus;
use std::{
    process::ExitCode,
    time::{Duration, Instant},
};

/// An error is a sentence.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The fewest cycles that make a median.
const LEAST_CYCLES: usize = 3;

fn main() -> ExitCode {
    peer::begin("unsized", play::play, measure)
}

fn measure(arguments: &[String]) -> Result<()> {
    let Some(options) = options::Options::parse(arguments)? else { return report::help() };
    if cfg!(debug_assertions) {
        // `cargo test --all-targets` comes here: figures of such a build say nothing about anything.
        return report::unoptimised();
    }
    let cpus = Cpus::of_this_process()?;
    let clock = ticks::Clock::calibrate(Duration::from_millis(50));
    let mut peer = peer::Peer::start(std::process::id().to_string(), &cpus)?;
    let mut rows = row::all(&mut peer, &cpus)?;
    Cpus::pin(&[cpus.first])?;
    let (mut samples, mut cycles) = (Vec::new(), 0);
    // The first turns fault pages in on both sides and are not counted.
    for row in &mut rows {
        row.turn(&mut peer, &mut samples)?;
    }
    let start = Instant::now();
    while cycles < LEAST_CYCLES || start.elapsed() < Duration::from_secs_f64(options.seconds) {
        for row in &mut rows {
            samples.clear();
            row.turn(&mut peer, &mut samples)?;
            row.statistics.add_turn(&mut samples);
        }
        cycles += 1;
    }
    peer.end()?;
    report::print(&cpus, &clock, &options, cycles, &rows)
}
