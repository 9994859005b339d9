//! Tests with the mock, a middleware whose behaviour is known exactly; so the results must be exact.
//!
//! Counts and latencies of the mock depend only on message ids, so they are compared exactly, even on a busy machine.
//! Other results depend on the real send times. They are checked by relations between results, or at a rate so low that
//! no message falls into the wrong second.

pub mod accounts;
pub mod clocks;
pub mod contract;
pub mod counts;
pub mod daemons;
pub mod defects;
pub mod latencies;
pub mod matching;
pub mod phases;
pub mod placement;
pub mod plans;

use std::fs;

use perf_test::log::{Distribution, Log, Summary, TotalEntry};
use serde_json::Value;
use tempfile::TempDir;

use crate::program::{Finished, Memory, Running};

/// The kinds of warnings that the machine or its load may cause in any run.
const OF_THE_MACHINE: [&str; 11] = [
    "calibration",
    "clock-stepped",
    "cores-full",
    "cpu-idle",
    "frequency",
    "governor",
    "load",
    "rate-not-held",
    "steal",
    "throttled",
    "unsent",
];

/// A run over the mock that writes all logs.
pub struct Mocked {
    memory: Memory,
    folder: TempDir,
    run: Running,
}

impl Mocked {
    /// Starts a run over the mock with this script.
    pub fn start(script: &str, options: &str) -> Mocked {
        let (memory, folder) = (Memory::new(), tempfile::tempdir().unwrap());
        let log = folder.path().display();
        let logs = format!("--full-logfile {log}/full.json --json-logfile {log}/log.json --csv-logfile {log}/log.csv");
        let run = memory.start(&format!("-c Mock --mock {script} {options} -o stdout {logs}"));
        Mocked { memory, folder, run }
    }

    /// Waits for the end of the run, and asserts that it leaves no file.
    #[track_caller]
    pub fn finish(self) -> Measured {
        let Mocked { memory, folder, run } = self;
        let run = run.finish();
        memory.assert_empty();
        let log =
            Log::read(&folder.path().join("full.json")).unwrap_or_else(|why| panic!("{why}\n{}", run.everything()));
        let json: Value = serde_json::from_slice(&fs::read(folder.path().join("log.json")).unwrap()).unwrap();
        let csv = fs::read_to_string(folder.path().join("log.csv")).unwrap();
        let table = csv.split_once("---EXPERIMENT-START---\n").unwrap().1;
        let cells = |line: &str| line.split(',').map(|cell| cell.trim().to_owned()).collect();
        let json_rows = json["analysis_results"].as_array().unwrap().clone();
        Measured { run, log, json_rows, csv_rows: table.lines().map(cells).collect() }
    }
}

/// Starts a run, waits for its end, and asserts that it succeeds.
#[track_caller]
pub fn measure(script: &str, options: &str) -> Measured {
    let [measured] = measure_all([(script, options)]);
    measured
}

/// Measures several runs at the same time, because they mostly sleep.
#[track_caller]
pub fn measure_all<const N: usize>(runs: [(&str, &str); N]) -> [Measured; N] {
    let runs = runs.map(|(script, options)| Mocked::start(script, options));
    runs.map(|run| {
        let measured = run.finish();
        measured.run.assert_good();
        measured.assert_rows_add_up();
        measured
    })
}

/// The results of a run.
pub struct Measured {
    pub run: Finished,
    pub log: Log,
    /// The rows of performance_test's JSON log.
    json_rows: Vec<Value>,
    /// The rows of the CSV log; the first row has the names of the columns.
    csv_rows: Vec<Vec<String>>,
}

/// The counts of messages in a run.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub sent: u64,
    pub refused: u64,
    pub received: u64,
    pub lost: u64,
    pub overwritten: u64,
    pub unexplained: u64,
    pub duplicates: u64,
    pub reordered: u64,
    pub corrupt: u64,
    pub negative: u64,
    pub late: u64,
    pub too_late: u64,
    pub relayed: u64,
}

impl Measured {
    #[track_caller]
    pub fn summary(&self) -> &Summary {
        self.log.summary.as_ref().unwrap_or_else(|| panic!("{}", self.run.everything()))
    }

    #[track_caller]
    pub fn counts(&self) -> Counts {
        let summary = self.summary();
        let (sent, received) = (&summary.total.sent, &summary.total.received);
        Counts {
            sent: sent.samples,
            refused: sent.refused,
            received: received.samples,
            lost: summary.lost,
            overwritten: received.overwritten,
            unexplained: summary.unexplained,
            duplicates: received.duplicates,
            reordered: received.reordered,
            corrupt: received.corrupt,
            negative: received.negative,
            late: received.late,
            too_late: received.too_late,
            relayed: summary.total.relayed.samples,
        }
    }

    /// Asserts that the log and the printed summary have exactly these counts.
    #[track_caller]
    pub fn assert_counts(&self, expected: Counts) {
        assert_eq!(self.counts(), expected, "{}", self.run.everything());
        let Counts { sent, received, lost, overwritten, unexplained, duplicates, reordered, .. } = expected;
        for words in [
            format!("sent {sent}, received {received}, lost {lost}\n"),
            format!("{overwritten} left the history before they were taken, {unexplained} unexplained\n"),
            format!("{duplicates} duplicates, {reordered} reordered\n"),
        ] {
            assert!(self.run.stdout.contains(&words), "no {words:?} in {}", self.run.stdout);
        }
    }

    /// Asserts that the run has exactly these warnings, and perhaps warnings that the machine causes.
    #[track_caller]
    pub fn assert_warnings(&self, expected: &[&str]) {
        let warnings = &self.summary().warnings;
        let kinds = warnings.iter().map(|warning| warning.kind.as_str()).filter(|kind| !OF_THE_MACHINE.contains(kind));
        assert_eq!(kinds.collect::<Vec<_>>(), expected, "{warnings:#?}");
    }

    /// The sentence of the only warning of this kind.
    #[track_caller]
    pub fn warning(&self, kind: &str) -> &str {
        let warnings = &self.summary().warnings;
        &warnings
            .iter()
            .find(|warning| warning.kind == kind)
            .unwrap_or_else(|| panic!("no {kind} in {warnings:#?}"))
            .sentence
    }

    /// Asserts that every sample counts in exactly one row.
    #[track_caller]
    fn assert_rows_add_up(&self) {
        let total = &self.summary().total;
        let sum = |of: fn(&TotalEntry) -> u64| -> (u64, u64) {
            (self.log.rows.iter().map(|row| of(&row.total)).sum(), of(total))
        };
        for (what, (of_rows, of_all)) in [
            ("sent", sum(|total| total.sent.samples)),
            ("refused", sum(|total| total.sent.refused)),
            ("received", sum(|total| total.received.samples)),
            ("bytes", sum(|total| total.received.bytes)),
            ("duplicates", sum(|total| total.received.duplicates)),
            ("reordered", sum(|total| total.received.reordered)),
            ("overwritten", sum(|total| total.received.overwritten)),
            ("negative", sum(|total| total.received.negative)),
            ("late", sum(|total| total.received.late)),
            ("too late", sum(|total| total.received.too_late)),
            ("late by the schedule", sum(|total| total.received.late_response)),
            ("too late by the schedule", sum(|total| total.received.too_late_response)),
            ("relayed", sum(|total| total.relayed.samples)),
            ("latencies", sum(|total| total.latency.n)),
            ("responses", sum(|total| total.response.n)),
            ("times of sending", sum(|total| total.send_lateness.n)),
        ] {
            assert_eq!(of_rows, of_all, "{what}: rows against summary: {}", self.run.everything());
        }
    }

    /// The values of a column of the CSV log.
    #[track_caller]
    pub fn csv(&self, name: &str) -> Vec<f64> {
        let place = self.csv_rows[0].iter().position(|column| column == name);
        let place = place.unwrap_or_else(|| panic!("no {name} in {:?}", self.csv_rows[0]));
        self.csv_rows[1..].iter().map(|row| row[place].parse().unwrap()).collect()
    }

    /// The values of a field in all rows of performance_test's JSON log.
    #[track_caller]
    pub fn json(&self, name: &str) -> Vec<f64> {
        self.json_rows.iter().map(|row| row[name].as_f64().unwrap_or_else(|| panic!("no {name} in {row}"))).collect()
    }

    /// The number of lost samples in all rows together.
    pub fn lost_in_rows(&self) -> u64 {
        self.log.rows.iter().map(|row| row.total.received.missed - row.total.received.reordered).sum()
    }
}

/// Asserts that a distribution has `n` times, all of exactly this length.
#[track_caller]
pub fn assert_always(times: &Distribution, n: u64, ns: f64) {
    let (exactly, percentile) = (Some(ns), Some(ns as u64));
    assert_eq!((times.n, times.min_ns, times.mean_ns, times.max_ns), (n, exactly, exactly, exactly));
    assert_eq!(times.variance_ns2, Some(0.0));
    let Distribution { p50_ns, p90_ns, p99_ns, p99_9_ns, p99_99_ns, .. } = *times;
    assert_eq!([p50_ns, p90_ns, p99_ns, p99_9_ns, p99_99_ns], [percentile; 5]);
    assert_eq!(times.cells.iter().map(|(_, n)| n).sum::<u64>(), n);
}

/// Asserts that a distribution has these times, each with its count. Moments must be exact, percentiles to three
/// digits.
#[track_caller]
pub fn assert_times(times: &Distribution, expected: &[(f64, u64)]) {
    let mut all: Vec<f64> = expected.iter().flat_map(|(ns, n)| (0..*n).map(|_| *ns)).collect();
    all.sort_by(f64::total_cmp);
    let n = all.len() as f64;
    let mean = all.iter().sum::<f64>() / n;
    let variance = all.iter().map(|ns| (ns - mean).powi(2)).sum::<f64>() / (n - 1.0);
    assert_eq!((times.n, times.min_ns, times.max_ns), (all.len() as u64, all.first().copied(), all.last().copied()));
    assert_close(times.mean_ns.unwrap(), mean, 1e-9);
    assert_close(times.variance_ns2.unwrap(), variance, 1e-9);
    let Distribution { p50_ns, p90_ns, p99_ns, p99_9_ns, p99_99_ns, .. } = *times;
    for (part, found) in [(0.5, p50_ns), (0.9, p90_ns), (0.99, p99_ns), (0.999, p99_9_ns), (0.9999, p99_99_ns)] {
        let place = ((part * n).ceil() as usize).max(1) - 1;
        assert_close(found.unwrap() as f64, all[place], 1e-3);
    }
}

/// Asserts that two numbers differ by at most the fraction `part` of the expected one.
#[track_caller]
pub fn assert_close(found: f64, expected: f64, part: f64) {
    assert!((found - expected).abs() <= part * expected.abs(), "{found} is not {expected}");
}

/// The number of ids from 1 to `last` for which `is_such` is true.
pub fn count_ids(last: u64, is_such: impl Fn(u64) -> bool) -> u64 {
    (1..=last).filter(|id| is_such(*id)).count() as u64
}
