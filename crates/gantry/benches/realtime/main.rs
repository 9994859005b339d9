//! `cargo bench -p gantry --bench realtime`: what a control loop pays for a message of 256 bytes, in one process between two
//! threads, beside a ring that does nothing else (`rtrb`), a queue behind a mutex, and the standard library's channel.
//!
//! For whoever changes the data path or how readers are woken, and for CI (`--quick`). Invariants:
//! - Everything is measured in one run, in turns of milliseconds: what is compared is compared within such a cycle.
//! - Each message is written where it lies and read there, every byte, by the same code, whoever carries it (`message`).
//! - Nothing is lost, or it is an error: nobody is sent more than all of them keep (`queue`).

mod channel;
#[path = "../../../gantry-shm/benches/hop/cpus.rs"]
#[expect(dead_code, reason = "who starts processes uses all of it")]
mod cpus;
mod gantry;
mod locked;
mod message;
#[path = "../unsized/options.rs"]
mod options;
mod paced;
mod queue;
mod report;
mod ring;
mod row;
mod stamp;
#[path = "../../../gantry-shm/benches/hop/statistics.rs"]
mod statistics;
mod stream;
#[path = "../../../gantry-shm/benches/hop/ticks.rs"]
mod ticks;

use cpus::Cpus;
use row::{PacedRow, Row};
use std::{
    process::ExitCode,
    time::{Duration, Instant},
};

/// An error is a sentence, which comes from any thread.
type Error = Box<dyn std::error::Error + Send + Sync>;
type Result<T> = std::result::Result<T, Error>;

/// The fewest cycles that make a median.
const LEAST_CYCLES: usize = 3;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match measure(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("realtime: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(arguments: &[String]) -> Result<()> {
    let Some(options) = options::Options::parse(arguments)? else { return report::help() };
    if cfg!(debug_assertions) {
        // `cargo test --all-targets` comes here: figures of such a build say nothing about anything.
        return report::unoptimised();
    }
    let cpus = Cpus::of_this_process()?;
    let clock = ticks::Clock::calibrate(Duration::from_millis(50));
    // Made before this thread is pinned: the threads behind it use all CPUs.
    let _node = ::gantry::Node::new("realtime_bench")?;
    drop(gantry::pair(1, ::gantry::PublishMode::Async { period: row::PERIOD })?);
    Cpus::pin(&[cpus.first])?;
    let (mut rows, mut paced) = (Row::all(&cpus), PacedRow::all());
    let (start, mut cycles) = (Instant::now(), 0);
    while cycles < LEAST_CYCLES || start.elapsed() < Duration::from_secs_f64(options.seconds) {
        for row in &mut rows {
            let mut samples = row.turn(&cpus)?;
            row.statistics.add_turn(&mut samples);
        }
        paced.iter_mut().try_for_each(|row| row.turn(&cpus))?;
        cycles += 1;
    }
    report::print(&cpus, &clock, &options, cycles, &rows, &paced)
}
