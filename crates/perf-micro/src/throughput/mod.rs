//! The throughput experiment (`perf_micro throughput`): a board publishes best-effort texts as fast as its line accepts
//! them, and a node of the host receives them.

mod board;
mod charts;
mod host;
mod options;
mod row;
mod text;

use std::sync::atomic::Ordering;

use gantry::Qos;
use gantry_msgs::std_msgs::msg::String as Text;
use perf_test::{common::error::Failure, experiments::results_file::Results, report::plot::curves::draw};
use perf_worker::clock::SECOND_NS;
use serde::Serialize;

use crate::{
    experiment::{Experiment, Report},
    options::Named,
    rig::{Rig, board_ended, host_failed, host_node, topic},
};
use board::Orders;
use host::Host;
pub use options::{AFTER_HELP, ThroughputOptions};
use row::ThroughputRow;

/// The length of the subscription's queue, in texts: long enough that no text is lost there.
const DEPTH: u32 = 1000;

/// The results.
#[derive(Debug, Serialize)]
struct Throughput {
    /// The length of each measurement, s.
    length_s: u32,
    rows: Vec<ThroughputRow>,
    /// The transports that were skipped, because no requested text fits into their messages.
    skipped: Vec<String>,
}

/// Measures all transports.
///
/// # Errors
/// [`Failure::Usage`], if there is no agent, or the folder cannot be used; [`Failure::Measurement`], if the files
/// cannot be written.
pub fn measure(options: &ThroughputOptions) -> Result<Results, Failure> {
    let length_s = options.time;
    let lengths = options.rig.transports().into_iter().map(|transport| (transport, options.lengths(transport)));
    let (measured, skipped): (Vec<_>, Vec<_>) = lengths.partition(|(_, lengths)| !lengths.is_empty());
    if measured.is_empty() {
        let longest = "a message of CAN FD has room for texts of 46 bytes";
        return Err(Failure::Usage(format!("{longest}: give --bytes 46 or less, or another --transport")));
    }
    let lengths_s: Vec<u32> = measured.iter().map(|(_, lengths)| length_s * lengths.len() as u32).collect();
    let mut experiment = Experiment::begin("throughput", &options.rig.place, &lengths_s)?;
    let mut rows = Vec::new();
    for (transport, lengths) in measured {
        experiment.timed_step(&transport.name(), |experiment| {
            measure_lengths(&experiment.rig(transport)?, &lengths, i64::from(length_s) * SECOND_NS, &mut rows)
        });
    }
    let skipped = skipped.into_iter().map(|(transport, _)| transport.name()).collect();
    let throughput = Throughput { length_s, rows, skipped };
    let (tables, figures) = (throughput.tables(), throughput.figures().collect());
    let picture = Some(draw(&throughput.charts(), charts::LAYOUT).map_err(Failure::Measurement)?);
    experiment.finish(Report { tables, figures, details: throughput, picture })
}

/// Measures texts of these lengths over a line.
fn measure_lengths(
    rig: &Rig,
    lengths_bytes: &[usize],
    length_ns: i64,
    rows: &mut Vec<ThroughputRow>,
) -> Result<(), String> {
    let topic = topic();
    let (node, domain_id) = host_node()?;
    let qos = Qos::sensor_data().keep_last(DEPTH);
    let mut subscription = node.create_subscription::<Text>(&topic, qos).map_err(host_failed)?;
    let line = rig.board_line()?;
    let orders = Orders::default();
    std::thread::scope(|scope| {
        let board = scope.spawn(|| board::run(line, domain_id, &topic, &orders));
        let mut measure = |payload_bytes: usize| -> Result<(), String> {
            orders.payload_bytes.store(payload_bytes, Ordering::Relaxed);
            let mut host = Host { subscription: &mut subscription, payload_bytes, interrupt: &rig.interrupt };
            let first = host.wait_for_first()?;
            let passed = || (orders.sent.load(Ordering::Relaxed), rig.traffic.now());
            let (texts_before, sent_before) = passed();
            let received = host.count(first, length_ns)?;
            let (texts, sent) = passed();
            let (texts, sent) = (texts - texts_before, sent.since(sent_before));
            rows.push(ThroughputRow::new(rig.transport, payload_bytes, received, texts, sent));
            Ok(())
        };
        let measured = lengths_bytes.iter().try_for_each(|payload_bytes| {
            measure(*payload_bytes).map_err(|sentence| format!("texts of {payload_bytes} bytes: {sentence}"))
        });
        orders.is_done.store(true, Ordering::Relaxed);
        board_ended(board).and(measured)
    })
}
