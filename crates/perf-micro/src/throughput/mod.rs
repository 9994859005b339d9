//! Throughput (`perf_micro throughput`): best-effort texts of a board, as fast as its line takes them, received by
//! a node of the host.

mod board;
mod charts;
mod host;
mod options;
mod row;
mod text;

use std::{sync::atomic::Ordering, time::Instant};

use gantry::{Node, Qos};
use gantry_msgs::std_msgs::msg::String as Text;
use perf_worker::{choice::Choice, clock::SECOND_NS};
use serde::Serialize;

use crate::{
    results::Results,
    rig::{Rig, domain_id, find, topic},
    transport::Transport,
};
use board::Orders;
use host::Host;
pub use options::{AFTER_HELP, ThroughputOptions};
use perf_test::{
    common::{error::Failure, interrupt::Interrupt},
    experiments::batch::{Folder, Progress},
    report::plot::throughput::draw,
};
use row::{Passed, Row};

/// The format of `micro-throughput.json`.
const SCHEMA: &str = "gantry.perf_test.micro_throughput/1";
/// The name of the results in a folder, without the suffix.
const NAME: &str = "micro-throughput";
/// The texts that wait for the subscription, so that it loses none of them itself.
const DEPTH: u32 = 1000;

/// The results; serialises as `micro-throughput.json`.
#[derive(Debug, Serialize)]
struct Throughput {
    schema: &'static str,
    /// The length of each measurement, s.
    length_s: u32,
    rows: Vec<Row>,
    /// The sentences of transports that failed.
    failures: Vec<String>,
    /// Transports whose messages are too short for all texts.
    skipped: Vec<&'static str>,
}

/// The measurements, one after the other.
#[derive(Debug)]
struct Steps {
    progress: Progress,
    index: usize,
}

impl Steps {
    fn run<T>(&mut self, title: &str, measure: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
        self.progress.begin(self.index, title, None);
        let began = Instant::now();
        let measured = measure();
        self.progress.end(self.index, title, None, began.elapsed());
        self.index += 1;
        measured
    }
}

/// Measures all transports.
///
/// # Errors
/// [`Failure::Usage`]: there is no agent, or the folder cannot be used; [`Failure::Measurement`]: the files cannot be
/// written.
pub fn measure(options: &ThroughputOptions) -> Result<Results, Failure> {
    let transports = options.rig.transports();
    if transports.iter().all(|transport| options.lengths(*transport).is_empty()) {
        let longest = "a message of CAN FD has room for texts of 46 bytes";
        return Err(Failure::Usage(format!("{longest}: give --bytes 46 or less, or another --transport")));
    }
    let agent = find(options.rig.place.agent.clone())?;
    let folder = Folder::open(options.rig.place.results.clone()).map_err(Failure::Usage)?;
    let interrupt = Interrupt::install()?;
    folder.describe().map_err(Failure::Usage)?;
    let mut throughput = Throughput {
        schema: SCHEMA,
        length_s: options.time,
        rows: Vec::new(),
        failures: Vec::new(),
        skipped: Vec::new(),
    };
    let lengths = transports.iter().flat_map(|transport| options.lengths(*transport)).map(|_| Some(options.time));
    let (mut steps, mut done) = (Steps { progress: Progress::new(lengths), index: 0 }, 0);
    for transport in transports {
        let lengths = options.lengths(transport);
        if lengths.is_empty() {
            throughput.skipped.push(transport.name());
            continue;
        }
        let rig = Rig::start(transport, &agent, &interrupt).map_err(|failure| failure.to_string());
        let measured =
            rig.and_then(|rig| throughput.measure_transport(&rig, transport, &lengths, &mut steps, &interrupt));
        done += lengths.len();
        steps.index = done;
        if let Err(sentence) = measured {
            throughput.failures.push(format!("{}: {sentence}", transport.name()));
        }
        if interrupt.is_requested() {
            break;
        }
    }
    steps.progress.finish(0);
    let failure = (!throughput.failures.is_empty()).then(|| throughput.failures.join("; "));
    let picture = draw(&throughput.charts()).map_err(Failure::Measurement)?;
    Results::write(&folder, NAME, throughput.lines(), &throughput, Some(picture), failure).map_err(Failure::Measurement)
}

impl Throughput {
    fn measure_transport(
        &mut self,
        rig: &Rig,
        transport: Transport,
        lengths_bytes: &[usize],
        steps: &mut Steps,
        interrupt: &Interrupt,
    ) -> Result<(), String> {
        let sentence = |error: gantry::Error| format!("the host's node failed: {error}");
        let topic = topic();
        let node = Node::new("perf_micro").map_err(sentence)?;
        let qos = Qos::sensor_data().keep_last(DEPTH);
        let mut subscription = node.create_subscription::<Text>(&topic, qos).map_err(sentence)?;
        let domain_id = domain_id(&node)?;
        let line = rig.board_line().map_err(|failure| failure.to_string())?;
        let orders = Orders::default();
        let length_ns = i64::from(self.length_s) * SECOND_NS;
        let is_can = transport.bit_rates().is_some();
        std::thread::scope(|scope| {
            let board = scope.spawn(|| {
                if is_can {
                    board::run::<63>(line, domain_id, &topic, &orders)
                } else {
                    board::run::<512>(line, domain_id, &topic, &orders)
                }
            });
            let mut measure = |payload_bytes: usize| -> Result<Row, String> {
                orders.payload_bytes.store(payload_bytes, Ordering::Relaxed);
                let mut host = Host { subscription: &mut subscription, payload_bytes, interrupt };
                let first = host.wait_for_first()?;
                let before = Passed::now(rig, &orders);
                let received = host.count(first, length_ns)?;
                let passed = Passed::now(rig, &orders).since(before);
                Ok(Row::new(transport, payload_bytes, received, passed))
            };
            let measured = lengths_bytes.iter().try_for_each(|payload_bytes| {
                let title = format!("{}, texts of {payload_bytes} bytes", transport.name());
                self.rows.push(steps.run(&title, || measure(*payload_bytes))?);
                Ok(())
            });
            orders.is_done.store(true, Ordering::Relaxed);
            let board = board.join().unwrap_or_else(|_| Err(std::io::Error::other("the board's thread panicked")));
            board.map_err(|error| format!("the board failed: {error}")).and(measured)
        })
    }
}
