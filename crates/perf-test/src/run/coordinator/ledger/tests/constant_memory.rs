//! A test that the coordinator's memory does not grow with the length of a run.

use allocations::count;

use super::*;
use crate::{cli, report::Reports};
use perf_worker::worker::protocol::Report;

/// The number of different latencies in a row. Each is in another cell of the histogram.
const CELLS: u64 = 500;
/// The second of the run from which all buffers have their final size.
const SOME_S: u64 = 20;
/// The second of the run at which the test compares the memory again.
const MANY_S: u64 = 200;

/// A worker's report for one second, as a line of JSON.
fn line(endpoint: Endpoint, second: u64) -> String {
    let cells: Vec<(u64, u64)> = (1..=CELLS).map(|cell| (cell * 1000, 2)).collect();
    let mut counts = Counts::default();
    match endpoint {
        Endpoint::Publisher(_) => {
            counts.sent.samples = 2 * CELLS;
            counts.lateness = cells;
        }
        _ => {
            counts.received.samples = 2 * CELLS;
            cells.iter().for_each(|(latency_ns, _)| counts.received.latency_ns.add(*latency_ns as f64));
            (counts.latencies, counts.responses) = (cells.clone(), cells);
        }
    }
    let mut resources = Resources::default();
    resources.usage.taken_ns = (second as i64 + 1) * SECOND_NS;
    let counts = Box::new(counts);
    serde_json::to_string(&Report::Row { endpoint, second, whole: true, counts, resources }).unwrap()
}

/// Does the coordinator's work of one second, from the workers' reports to the logs.
fn go_through(second: u64, ledger: &mut Ledger, reports: &mut Reports) {
    for (worker, endpoint) in [Endpoint::Publisher(0), Endpoint::Subscription(0)].into_iter().enumerate() {
        let report = serde_json::from_str(&line(endpoint, second)).unwrap();
        let Report::Row { endpoint, second, whole, counts, resources } = report else { panic!("{report:?}") };
        ledger.enter(endpoint, &Entry { worker, second, whole, counts: *counts, resources });
    }
    let row = ledger.next_row(|_| false).unwrap();
    let counted = [&row.total.latency, &row.total.send_lateness].map(|of| of.cells.iter().map(|(_, n)| n).sum::<u64>());
    assert_eq!(counted, [2 * CELLS; 2]);
    assert!(reports.row(&row).unwrap().is_empty(), "a log was given up");
}

#[test]
fn ledger_and_logs_are_as_large_after_many_seconds_as_after_some() {
    let folder = tempfile::tempdir().unwrap();
    let logs = ["--csv-logfile=a.csv", "--json-logfile=a.json", "--full-logfile=full.json"];
    let logs = logs.map(|log| log.replace('=', &format!(" {}/", folder.path().display()))).join(" ");
    let line = format!("perf_test -r 1000 -o none {logs}");
    let cli = cli::parse(line.split_whitespace().map(Into::into)).unwrap();
    let resolved = cli::resolve(&cli.options).unwrap();
    let mut reports = Reports::open(&resolved.outputs, &resolved.spec, "id", "/topic", None).unwrap();
    let mut ledger = Ledger::new(
        [(Endpoint::Publisher(0), vec![]), (Endpoint::Subscription(0), vec![Endpoint::Publisher(0)])].into(),
        2,
        0,
    );
    (0..SOME_S).for_each(|second| go_through(second, &mut ledger, &mut reports));
    let since = count(|| (SOME_S..MANY_S).for_each(|second| go_through(second, &mut ledger, &mut reports)));
    assert_eq!(ledger.sums.total.latencies.n(), MANY_S * 2 * CELLS);
    let more_bytes = since.bytes as i64 - since.freed_bytes as i64;
    assert_eq!(more_bytes, 0, "more after {MANY_S} s than after {SOME_S} s");
}
