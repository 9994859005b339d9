//! `cargo bench -p gantry-shm --bench hop`: what a hop costs, beside what it could cost at least and what others need.
//!
//! For whoever changes the engine's data path, and for CI (`--quick`). A *hop* is half a round trip between two processes,
//! this program and itself started again as its other side. Invariants:
//! - Everything is measured in one run, in turns of milliseconds (`schedule`): machines, virtual ones above all, move a cache
//!   line in 50 ns in one minute and in 100 ns in the next, so figures of two runs cannot be compared.
//! - All contestants write and read the same words of their payload through one function (`payload`).
//! - Who is not on turn sleeps in the kernel (`peer`), and nothing stays behind (`root`).

mod area;
mod contestant;
mod cpus;
mod fan_out;
mod floor;
mod futexes;
mod gantry;
mod iceoryx;
mod one_line;
mod options;
mod payload;
mod peer;
mod play;
mod report;
mod root;
mod schedule;
mod statistics;
mod ticks;
mod variant;

use std::{process::ExitCode, time::Duration};

/// An error is a sentence.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    peer::begin("hop", play::play, measure)
}

fn measure(arguments: &[String]) -> Result<()> {
    let Some(options) = options::Options::parse(arguments)? else { return report::help() };
    if cfg!(debug_assertions) {
        // `cargo test --all-targets` comes here: figures of such a build say nothing about anything.
        return report::unoptimised();
    }
    let cpus = cpus::Cpus::of_this_process()?;
    let root = root::Root::create()?;
    let clock = ticks::Clock::calibrate(Duration::from_millis(100));
    let mut turns = schedule::Schedule::new(&root, &cpus, options.seconds)?;
    let measured = turns.run()?;
    turns.end()?;
    report::print(&cpus, &clock, &options, &measured)
}
