//! `cargo bench -p gantry-shm --bench scale`: the cost of one endpoint, process or reader among many.
//!
//! There are four tables: publishers in one process (`endpoints`), processes in one domain, readers on one topic (both
//! in `processes`), and crowds that join and leave at once (`crowds`). In the first three tables, each row has twice as
//! many publishers, processes or readers as the row before. The `ratio` lines below a table divide the cost of one more
//! in the last row by the cost of one more in the first row: 1 means that the cost does not grow. With `--quick`, all
//! numbers are a tenth.

#![expect(clippy::print_stdout, reason = "a table for people")]

mod crowds;
mod endpoints;
mod player;
mod processes;

use crate::crowds::Crowd;
use bench_support::{Benchmark, Options, Result, statistics::median};
use gantry_shm::{Participant, Publisher, PublisherOptions, Qos, SourceTime, Subscription, TypeDescription};
use std::{
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

const PAYLOAD_BYTES: usize = 64;
/// A time limit that is reached only if a process hangs.
const PATIENCE: Duration = Duration::from_secs(120);

const SCALE: Benchmark = Benchmark {
    name: "scale",
    help: "\
Measures the cost of an endpoint, a process and a reader among many of them.

cargo bench -p gantry-shm --bench scale [-- OPTIONS]

  --quick       use a tenth of all endpoints, processes and readers
  --help        print this help
",
    seconds: 0.0, // not used: the numbers of endpoints decide the length
    quick_seconds: 0.0,
};

fn main() -> ExitCode {
    SCALE.main(player::play, measure)
}

fn measure(options: &Options) -> Result<()> {
    let part = if options.is_quick { 10 } else { 1 };
    endpoints::measure(&[250, 500, 1000, 2000].map(|count| count / part))?;
    processes::measure_processes(&[25, 50, 100, 200].map(|count| (count / part).max(2)))?;
    processes::measure_readers(&[8, 16, 32, 64].map(|count| (count / part).max(1)))?;
    let (readers, topics) = (200 / part, 1000 / part);
    crowds::measure(&[
        Crowd { name: "one topic, all read", processes: readers, publishing: 1, endpoints: 1, topics: 1 },
        Crowd { name: "topics in a process", processes: 1, publishing: 1, endpoints: topics, topics },
    ])
}

fn root() -> Result<tempfile::TempDir> {
    Ok(tempfile::Builder::new().prefix("gantry-scale-").tempdir_in("/dev/shm")?)
}

fn publisher(participant: &Arc<Participant>, topic: &str) -> Result<Publisher> {
    let (qos, options) = (Qos::default(), PublisherOptions::default());
    Ok(Publisher::new(participant.clone(), "/talker", topic, message_type(), qos, options)?)
}

fn subscription(participant: &Arc<Participant>, topic: &str) -> Result<Subscription> {
    Ok(Subscription::new(participant.clone(), "/listener", topic, message_type(), Qos::default())?)
}

fn message_type() -> TypeDescription {
    TypeDescription {
        name: "bench_msgs/msg/Bytes".into(),
        hash: [0; 32],
        definition: format!("byte[{PAYLOAD_BYTES}] data").into(),
        payload_bytes: PAYLOAD_BYTES,
    }
}

/// The cost of a loan and its publish: the median of many measurements, in ns.
fn publish_ns(publisher: &mut Publisher) -> Result<f64> {
    const BATCH: u32 = 64;
    let mut batches_ns = Vec::new();
    for _ in 0..200 {
        let start = Instant::now();
        for _ in 0..BATCH {
            let loan = publisher.loan(PAYLOAD_BYTES)?;
            publisher.publish(loan, SourceTime::now())?;
        }
        batches_ns.push(start.elapsed().as_nanos() as f64 / f64::from(BATCH));
    }
    Ok(median(batches_ns))
}

/// Prints the last row's value divided by the first row's value.
fn print_ratio(name: &str, first: (usize, f64), last: (usize, f64)) {
    println!("ratio {name}-{}/{} {:.2}", last.0, first.0, last.1 / first.1);
}
