//! `cargo bench -p gantry --bench executors`: the cost of executors for each message, in CPU time and latency, and
//! the cost of idle executors.
//!
//! Another process (this program started again) publishes on 1 to 1000 topics on a schedule of absolute times.
//! Callbacks for all topics run under each executor in turn. Further loads have idle timers, or callbacks that block.
//! Invariants:
//! - Everything is measured in one run. A cycle has a turn of a fraction of a second for each row of the table. Only
//!   figures of the same cycle are compared.
//! - All executors run the same callbacks of the same node, which moves from one executor to the next. The loop around
//!   a wait set has its own subscriptions to the same topics.
//! - Every turn publishes the same number of messages; the report shows an executor that does not deliver all of them.

mod blocking;
mod idle;
mod kind;
mod listener;
mod meter;
mod play;
mod report;
mod row;
mod statistics;

use bench_support::{Benchmark, Options, Result, cpus, cpus::Cpus, peer, usage};
use blocking::Blocking;
use listener::Listener;
use meter::Meter;
use std::{process::ExitCode, sync::Arc, time::Duration};

const EXECUTORS: Benchmark = Benchmark {
    name: "executors",
    help: "\
Measures what executors cost for each message, and what idle ones do.

cargo bench -p gantry --bench executors [-- OPTIONS]

  --quick       measure for 17 seconds instead of 200, in shorter turns
  --only NAMES  only what has one of these in its name, as in \"events 10@,single-threaded 10@\"; for profilers
  --help        this
",
    seconds: 200.0,
    quick_seconds: 17.0,
};

fn main() -> ExitCode {
    EXECUTORS.main(play::play, measure)
}

fn measure(options: &Options) -> Result<()> {
    let cpus = Cpus::of_this_process()?;
    let mut peer = peer::Peer::start(&std::process::id().to_string(), &cpus)?;
    let _joined = play::node(std::process::id(), "measure")?;
    let meter = Arc::new(Meter::new()?);
    let mut rows = row::all(options);
    let mut listeners: Vec<Listener> = Vec::new();
    for load in rows.iter().map(|row| row.load) {
        if !listeners.iter().any(|listener| listener.is_for(load)) {
            listeners.push(Listener::new(&mut peer, &meter, load.topics, load.timers)?);
        }
    }
    let mut blocking = if options.only.is_empty() { Some(Blocking::new(&mut peer, &meter)?) } else { None };
    let idle_time = if options.is_quick { Duration::from_millis(500) } else { Duration::from_secs(3) };
    let idle = listeners
        .iter_mut()
        .max_by_key(|listener| listener.topics())
        .map(|listener| idle::measure(listener, idle_time))
        .transpose()?;
    let cycles = options.cycles(|cycle| {
        // The first executor after another load has cold caches, so each cycle begins with another executor.
        for index in row::order(&rows, cycle) {
            let row = &mut rows[index];
            let listener = listeners.iter_mut().find(|listener| listener.is_for(row.load));
            let turn = listener.ok_or("no listener has that load")?.turn(&mut peer, row.kind, row.load)?;
            row.statistics.add_turn(turn);
        }
        if let Some(blocking) = &mut blocking {
            blocking.cycle(&mut peer)?;
        }
        Ok(())
    })?;
    peer.end()?;
    report::print(&cpus, cycles, &rows, &idle.unwrap_or_default(), blocking.as_ref())
}
