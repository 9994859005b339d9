//! Latency (`perf_micro latency`): reliable numbers from the board to a node of the host and back.

mod board;
mod exchange;
mod host;
mod options;
mod statistics;
mod text;

use std::sync::atomic::{AtomicBool, Ordering};

use gantry::{Node, Qos};
use gantry_msgs::std_msgs::msg::Int64;
use perf_worker::choice::Choice;
use serde::Serialize;

use crate::{
    results::Results,
    rig::{Rig, domain_id, find, topic},
    transport::Transport,
};
use board::Plan;
use exchange::joined;
pub use exchange::{Received, Sent};
use host::Host;
pub use options::{AFTER_HELP, LatencyOptions};
use perf_test::{
    common::{error::Failure, interrupt::Interrupt},
    experiments::batch::Folder,
};
use statistics::Row;

/// The format of `micro-latency.json`.
const SCHEMA: &str = "gantry.perf_test.micro_latency/1";
/// The name of the results in a folder, without the suffix.
const NAME: &str = "micro-latency";

/// The results; serialises as `micro-latency.json`.
#[derive(Debug, Serialize)]
struct Latency {
    schema: &'static str,
    /// Between the beginnings of two exchanges, ms.
    period_ms: u32,
    rows: Vec<Row>,
    /// The sentences of transports that failed.
    failures: Vec<String>,
}

/// Measures all transports.
///
/// # Errors
/// [`Failure::Usage`]: there is no agent, or the folder cannot be used; [`Failure::Measurement`]: the files cannot be
/// written.
pub fn measure(options: &LatencyOptions) -> Result<Results, Failure> {
    let agent = find(options.rig.place.agent.clone())?;
    let folder = Folder::open(options.rig.place.results.clone()).map_err(Failure::Usage)?;
    let interrupt = Interrupt::install()?;
    folder.describe().map_err(Failure::Usage)?;
    let mut latency = Latency { schema: SCHEMA, period_ms: options.period_ms, rows: Vec::new(), failures: Vec::new() };
    for transport in options.rig.transports() {
        let plan = Exchanges { number: options.number, period_ms: options.period_ms, loses_each: None };
        let rig = Rig::start(transport, &agent, &interrupt).map_err(|failure| failure.to_string());
        let failure = match rig.and_then(|rig| exchange(&rig, transport, plan, &interrupt)) {
            Ok(done) => latency.add(transport, done),
            Err(sentence) => Some(sentence),
        };
        latency.failures.extend(failure.map(|sentence| format!("{}: {sentence}", transport.name())));
        if interrupt.is_requested() {
            break;
        }
    }
    let failure = (!latency.failures.is_empty()).then(|| latency.failures.join("; "));
    Results::write(&folder, NAME, latency.lines(), &latency, None, failure).map_err(Failure::Measurement)
}

/// The exchanges of a measurement.
#[derive(Clone, Copy, Debug)]
pub struct Exchanges {
    /// Their number.
    pub number: u32,
    /// Between the beginnings of two, ms.
    pub period_ms: u32,
    /// One exchange in this number loses a frame, in turn the board's and the agent's.
    pub loses_each: Option<usize>,
}

/// The exchanges that were made.
#[derive(Debug)]
pub struct Done {
    /// The board's sides.
    pub sent: Vec<Sent>,
    /// The host's sides.
    pub received: Vec<Received>,
    /// The reason why there are not more.
    pub failure: Option<String>,
}

impl Latency {
    /// Adds the exchanges of a transport. Returns the reason why some are missing.
    fn add(&mut self, transport: Transport, done: Done) -> Option<String> {
        let exchanges = joined(&done.sent, &done.received);
        let unknown = done.sent.len() - exchanges.len();
        if !exchanges.is_empty() {
            self.rows.push(Row::new(transport, &exchanges));
        }
        done.failure.or_else(|| (unknown > 0).then(|| format!("{unknown} exchanges have no host's side")))
    }
}

/// Makes exchanges.
///
/// # Errors
/// A sentence: the board, the host or the agent failed, or the user has ended the experiment.
pub fn exchange(rig: &Rig, transport: Transport, exchanges: Exchanges, interrupt: &Interrupt) -> Result<Done, String> {
    let sentence = |error: gantry::Error| format!("the host's node failed: {error}");
    let topics = ["to", "from"].map(|way| format!("{}_{way}_host", topic()));
    let node = Node::new("perf_micro").map_err(sentence)?;
    let [there, back] = &topics;
    let mut host = Host {
        subscription: node.create_subscription::<Int64>(there, Qos::default()).map_err(sentence)?,
        publisher: node.create_publisher::<Int64>(back, Qos::default()).map_err(sentence)?,
    };
    let line = rig.board_line().map_err(|failure| failure.to_string())?;
    let plan = Plan {
        exchanges,
        faults: rig.line.faults.clone(),
        domain_id: domain_id(&node)?,
        topics,
        is_cancelled: AtomicBool::new(false),
    };
    let is_can = transport.bit_rates().is_some();
    std::thread::scope(|scope| {
        let board = scope.spawn(|| if is_can { board::run::<63>(line, &plan) } else { board::run::<512>(line, &plan) });
        let received = host.answer(|| {
            if interrupt.is_requested() {
                plan.is_cancelled.store(true, Ordering::Relaxed);
            }
            !board.is_finished()
        });
        plan.is_cancelled.store(true, Ordering::Relaxed); // the host may have failed
        let (sent, ended) = board.join().map_err(|_| "the board's thread panicked".to_owned())?;
        let failure = ended.err().map(|error| format!("the board failed: {error}"));
        Ok(Done { sent, received: received.map_err(sentence)?, failure })
    })
}
