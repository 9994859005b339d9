//! Latency (`perf_test micro latency`): reliable numbers from the board to a node of the host and back.

mod board;
mod exchange;
mod host;
mod statistics;
mod text;

use std::sync::atomic::{AtomicBool, Ordering};

use gantry::{Node, Qos};
use gantry_msgs::std_msgs::msg::Int64;
use perf_worker::choice::Choice;
use serde::Serialize;

use super::{
    Results,
    rig::{MTU_BYTES, Rig, find, topic},
    transport::Transport,
};
use crate::{batch::Folder, cli::LatencyOptions, error::Failure, interrupt::Interrupt};
use board::Plan;
use exchange::joined;
use host::Host;
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
/// [`Failure::Usage`]: there is no agent, or the folder cannot be used; [`Failure::Measurement`]: the files cannot be written.
pub fn measure(options: &LatencyOptions) -> Result<Results, Failure> {
    let agent = find(options.rig.agent.clone())?;
    let folder = Folder::open(options.rig.results.clone()).map_err(Failure::Usage)?;
    let interrupt = Interrupt::install()?;
    folder.describe().map_err(Failure::Usage)?;
    let mut latency = Latency { schema: SCHEMA, period_ms: options.period_ms, rows: Vec::new(), failures: Vec::new() };
    for transport in options.rig.transports() {
        let rig = Rig::start(transport, &agent, &interrupt)?;
        match latency_of(&rig, transport, options, &interrupt) {
            Ok(row) => latency.rows.push(row),
            Err(sentence) => latency.failures.push(format!("{}: {sentence}", transport.name())),
        }
        if interrupt.is_requested() {
            break;
        }
    }
    let failure = (!latency.failures.is_empty()).then(|| latency.failures.join("; "));
    Results::write(&folder, NAME, latency.lines(), &latency, None, failure).map_err(Failure::Measurement)
}

fn latency_of(rig: &Rig, transport: Transport, options: &LatencyOptions, interrupt: &Interrupt) -> Result<Row, String> {
    let sentence = |error: gantry::Error| format!("the host's node failed: {error}");
    let topics = ["to", "from"].map(|way| format!("{}_{way}_host", topic()));
    let node = Node::new("perf_test_micro").map_err(sentence)?;
    let [there, back] = &topics;
    let mut host = Host {
        subscription: node.create_subscription::<Int64>(there, Qos::default()).map_err(sentence)?,
        publisher: node.create_publisher::<Int64>(back, Qos::default()).map_err(sentence)?,
    };
    let line = rig.board_line().map_err(|failure| failure.to_string())?;
    let plan = Plan {
        exchanges: options.number,
        period_us: options.period_ms * 1000,
        domain_id: u16::try_from(node.domain_id()).unwrap_or_default(),
        topics,
        is_cancelled: AtomicBool::new(false),
    };
    std::thread::scope(|scope| {
        let board = scope.spawn(|| board::run::<MTU_BYTES>(line, &plan));
        let received = host.answer(|| {
            if interrupt.is_requested() {
                plan.is_cancelled.store(true, Ordering::Relaxed);
            }
            !board.is_finished()
        });
        plan.is_cancelled.store(true, Ordering::Relaxed); // the host may have failed
        let sent = board.join().unwrap_or_else(|_| Err(std::io::Error::other("the board's thread panicked")));
        let received = received.map_err(sentence)?;
        let sent = sent.map_err(|error| format!("the board failed: {error}"))?;
        Ok(Row::new(transport, &joined(&sent, &received)))
    })
}
