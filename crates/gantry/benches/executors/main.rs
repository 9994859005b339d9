//! `cargo bench -p gantry --bench executors`: what executors cost for each message, in CPU time and latency, and what idle ones do.
//!
//! For whoever changes executors, and for CI (`--quick`). Another process, this program started again, publishes on 1 … 1000 topics
//! on a schedule of absolute times; callbacks for all of them run under each executor in turn. Invariants:
//! - Everything is measured in one run, in turns of a fraction of a second: what is compared is compared within such a cycle.
//! - Executors run the very same callbacks of the very same node, which goes from one to the next; a loop around a wait set, beside
//!   them, has subscriptions of its own to the same topics.
//! - Every turn publishes as many messages; who does not deliver all of them is said to.

#[path = "../../../gantry-shm/benches/hop/cpus.rs"]
mod cpus;
mod idle;
mod kind;
mod listener;
mod meter;
mod options;
#[path = "../../../gantry-shm/benches/hop/peer.rs"]
mod peer;
mod play;
mod report;
mod row;
mod statistics;
#[path = "../../../gantry-shm/benches/idle/usage.rs"]
mod usage;

use cpus::Cpus;
use listener::Listener;
use meter::Meter;
use std::{
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

/// An error is a sentence.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The fewest cycles that make a median.
const LEAST_CYCLES: usize = 3;

fn main() -> ExitCode {
    peer::begin("executors", play::play, measure)
}

fn measure(arguments: &[String]) -> Result<()> {
    let Some(options) = options::Options::parse(arguments)? else { return report::help() };
    if cfg!(debug_assertions) {
        // `cargo test --all-targets` comes here: figures of such a build say nothing about anything.
        return report::unoptimised();
    }
    let cpus = Cpus::of_this_process()?;
    let mut peer = peer::Peer::start(std::process::id().to_string(), &cpus)?;
    let _joined = play::node(std::process::id(), "measure")?;
    let meter = Arc::new(Meter::new()?);
    let mut rows = row::all(&options);
    let mut listeners = Vec::new();
    for topics in row::TOPICS.into_iter().filter(|&topics| rows.iter().any(|row| row.load.topics == topics)) {
        listeners.push(Listener::new(&mut peer, &meter, topics)?);
    }
    let idle = listeners.last_mut().map(|listener| idle::measure(listener, options.idle)).transpose()?;
    let (mut cycles, start) = (0, Instant::now());
    while cycles < LEAST_CYCLES || start.elapsed() < Duration::from_secs_f64(options.seconds) {
        let count = rows.len();
        for place in 0..count {
            // Who is first after another load finds its memory cold: that is another one each time.
            let row = &mut rows[row::rotated(place, cycles, count)];
            let listener = listeners.iter_mut().find(|listener| listener.topics() == row.load.topics);
            let turn = listener.ok_or("no listener has so many topics")?.turn(&mut peer, row.kind, row.load)?;
            row.statistics.add_turn(turn);
        }
        cycles += 1;
    }
    peer.end()?;
    report::print(&cpus, cycles, &rows, &idle.unwrap_or_default())
}
