//! The latency experiment (`perf_micro latency`): the board publishes reliable numbers, and a node of the host sends
//! each back.

mod board;
mod exchange;
mod options;
mod row;
mod text;

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use gantry::{Publisher, Qos, Subscription};
use gantry_msgs::std_msgs::msg::Int64;
use perf_test::{common::error::Failure, experiments::results_file::Results};
use perf_worker::clock::{now_ns, real_now_ns};
use serde::Serialize;

use crate::{
    experiment::{Experiment, Report},
    options::Named,
    rig::{Rig, board_ended, host_failed, host_node, topic},
};
use board::Plan;
use exchange::joined;
pub use exchange::{Received, Sent};
pub use options::{AFTER_HELP, LatencyOptions};
use row::LatencyRow;

/// The longest sleep before the host checks again whether the board has ended.
const PATIENCE: Duration = Duration::from_millis(20);

/// The results.
#[derive(Debug, Serialize)]
struct Latency {
    /// The time between the starts of two exchanges, ms.
    period_ms: u32,
    rows: Vec<LatencyRow>,
}

/// Measures all transports.
///
/// # Errors
/// [`Failure::Usage`], if there is no agent, or the folder cannot be used; [`Failure::Measurement`], if the files
/// cannot be written.
pub fn measure(options: &LatencyOptions) -> Result<Results, Failure> {
    let LatencyOptions { number, period_ms, .. } = *options;
    let transports = options.rig.transports();
    let lengths_s = vec![number.saturating_mul(period_ms) / 1000; transports.len()];
    let mut experiment = Experiment::begin("latency", &options.rig.place, &lengths_s)?;
    let mut rows = Vec::new();
    for transport in transports {
        let plan = Exchanges { number, period_ms, loses_each: None };
        let done = experiment.timed_step(&transport.name(), |experiment| exchange(&experiment.rig(transport)?, plan));
        let Some(Done { sent, received, failure }) = done else { continue };
        let exchanges = joined(&sent, &received);
        let unknown = sent.len() - exchanges.len();
        let failure = failure.or_else(|| (unknown > 0).then(|| format!("{unknown} exchanges have no host's side")));
        if let Some(sentence) = failure {
            experiment.fail(format!("{}: {sentence}", transport.name()));
        }
        rows.extend((!exchanges.is_empty()).then(|| LatencyRow::new(transport, &exchanges)));
    }
    let latency = Latency { period_ms, rows };
    let figures = latency.rows.iter().flat_map(LatencyRow::figures).collect();
    experiment.finish(Report { tables: latency.tables(), figures, details: latency, picture: None })
}

/// The exchanges of a measurement.
#[derive(Clone, Copy, Debug)]
pub struct Exchanges {
    /// The number of exchanges.
    pub number: u32,
    /// The time between the starts of two exchanges, ms.
    pub period_ms: u32,
    /// With `Some(n)`, one of `n` exchanges loses a frame: alternately a frame that the board sends and a frame that
    /// the agent sends.
    pub loses_each: Option<usize>,
}

/// The exchanges that were made.
#[derive(Debug)]
pub struct Done {
    /// The board's sides of the exchanges.
    pub sent: Vec<Sent>,
    /// The host's sides of the exchanges.
    pub received: Vec<Received>,
    /// The reason why the exchanges ended early.
    pub failure: Option<String>,
}

/// Makes `exchanges` between the board and the host.
///
/// # Errors
/// The reason, as a sentence, if the board, the host or the agent failed, or the user has ended the experiment.
pub fn exchange(rig: &Rig, exchanges: Exchanges) -> Result<Done, String> {
    let topics = ["to", "from"].map(|way| format!("{}_{way}_host", topic()));
    let (node, domain_id) = host_node()?;
    let [there, back] = &topics;
    let mut subscription = node.create_subscription::<Int64>(there, Qos::default()).map_err(host_failed)?;
    let mut publisher = node.create_publisher::<Int64>(back, Qos::default()).map_err(host_failed)?;
    let line = rig.board_line()?;
    let (faults, is_cancelled) = (rig.line.faults.clone(), AtomicBool::new(false));
    let plan = Plan { exchanges, faults, domain_id, topics, is_cancelled };
    let mut sent = Vec::with_capacity(exchanges.number as usize);
    let (received, ended) = std::thread::scope(|scope| {
        let board = scope.spawn(|| board::run(line, &plan, &mut sent));
        let received = answer(&mut subscription, &mut publisher, || {
            if rig.interrupt.is_requested() {
                plan.is_cancelled.store(true, Ordering::Relaxed);
            }
            !board.is_finished()
        });
        plan.is_cancelled.store(true, Ordering::Relaxed); // if the host failed, the board is still running
        (received, board_ended(board))
    });
    Ok(Done { sent, received: received.map_err(host_failed)?, failure: ended.err() })
}

/// Sends back each number that the subscription receives, while `goes_on` is true.
///
/// # Errors
/// An error of the subscription or the publisher.
fn answer(
    subscription: &mut Subscription<Int64>,
    publisher: &mut Publisher<Int64>,
    goes_on: impl Fn() -> bool,
) -> gantry::Result<Vec<Received>> {
    let mut received = Vec::new();
    while goes_on() {
        while let Some(number) = subscription.take()? {
            let (received_ns, real_ns) = (now_ns(), real_now_ns());
            let stamp_ns = number.data;
            let answered_ns = now_ns();
            publisher.publish_copy(&Int64 { data: stamp_ns })?;
            received.push(Received { stamp_ns, received_ns, answered_ns, real_ns });
        }
        subscription.wait(PATIENCE)?;
    }
    Ok(received)
}
