//! Tests of the texts in plots. Every log can be drawn, even an incomplete one.

use super::*;
use crate::log::documented_row_with;
use crate::log::{NodeAndTopic, RowEntry, Spread, SubscriptionEntry};
use crate::report::summary::tests::{spec, summary};
use perf_worker::measure::{histogram::Latencies, tally::Received};

fn log(rows: u32, with_summary: bool) -> Log {
    let mut latencies = Latencies::default();
    (0..99).for_each(|i| latencies.record(4_327_000 + i * 10_000));
    let row = documented_row_with(&latencies);
    let row = |second: u32| RowEntry { t_s: f64::from(second + 1), ..row.clone() };
    Log {
        schema: String::new(),
        run: crate::log::RunEntry::now(&spec("--zero-copy"), "id", "/topic", &Default::default()),
        environment: serde_json::Map::new(),
        rows: (0..rows).map(row).collect(),
        summary: with_summary.then(|| summary("--zero-copy", 1_000_000)),
    }
}

#[test]
fn a_picture_of_a_topology_names_it_and_its_executor() {
    let mut log = log(3, true);
    (log.run.spec.executor, log.run.spec.topic) = (Some("events".to_owned()), "sierra_nevada".to_owned());
    let picture = draw(&log).unwrap();
    assert!(picture.contains("topology sierra_nevada, executor events, over Gantry"), "{picture}");
    assert!(!picture.contains("INTER_PROCESS"));
}

#[test]
fn a_picture_of_a_topology_has_a_line_for_each_subscription() {
    let mut log = log(3, true);
    log.run.topology = Some(serde_json::Map::new());
    let subscription = |index: u32, late: u64| {
        let received = Received { samples: 200, late, too_late: 3, ..Received::default() };
        let spread = Spread { n: 200, max_ns: Some(5e6), ..Spread::default() };
        SubscriptionEntry {
            index,
            place: Some(NodeAndTopic { node: format!("/node_{index}"), topic: "/amazon".to_owned() }),
            sent: 200,
            received,
            lost: 7,
            latency: spread,
            p50_ns: Some(20_000),
            p99_ns: Some(900_000),
            overload: None,
        }
    };
    log.summary.as_mut().unwrap().subscriptions = (0..70).map(|index| subscription(index, 1)).collect();
    let picture = draw(&log).unwrap();
    assert_eq!(picture.matches("/amazon → /node_").count(), 60);
    for words in ["without 10 faster ones", "Late messages (% of received)", "1, 3, 7", "100 µs", "10 ms"] {
        assert!(picture.contains(words), "{words}");
    }
    // A run that received nothing, and the log of a killed run, can be drawn, too.
    log.summary.as_mut().unwrap().subscriptions =
        vec![SubscriptionEntry { p50_ns: None, received: Received::default(), ..subscription(0, 0) }];
    assert!(draw(&log).unwrap().contains("nothing was received"));
    log.summary = None;
    assert!(!draw(&log).unwrap().contains("Late messages"));
}

#[test]
fn a_picture_says_what_was_run_and_names_axes_lines_and_units() {
    let picture = draw(&log(30, true)).unwrap();
    for words in [
        "Array4m, 4,194,304 bytes, 100 Hz, zero copy over Gantry",
        "payload touched: stamp",
        "readers wait: adaptive",
        "n 3,000",
        "lost 0",
        "Latency from send time (log scale)",
        "fewer than 10 beyond",
        "99.9",
        "CPU of all workers (% of one core)",
        "Memory, sum of all workers (MiB)",
        "time since the start (s)",
        "p99",
        "5 ms",
    ] {
        assert!(picture.contains(words), "{words:?} is not in the picture");
    }
    assert!(!picture.contains("NaN") && !picture.contains("inf"), "{picture}");
}

#[test]
fn every_log_has_a_picture_also_a_killed_runs_and_one_without_rows() {
    for (rows, with_summary) in [(0, false), (0, true), (1, false), (2, true), (3600, false)] {
        let picture = draw(&log(rows, with_summary)).unwrap();
        assert!(!picture.contains("NaN") && picture.ends_with("</svg>\n"), "{rows} rows: {picture}");
        assert_eq!(picture.contains("no summary: the run was killed"), !with_summary);
        assert!(picture.len() < 200_000, "{} bytes for {rows} rows", picture.len());
    }
}

#[test]
fn the_latencies_of_a_killed_run_are_those_of_its_rows() {
    let series = Series::from_log(&log(1300, false));
    assert_eq!(series.latency.n(), 1300 * 99);
    let panel = series.latency_over_time();
    // Three rows are merged into one point, which has the longest latency of the three.
    assert_eq!(panel.lines[0].points.len(), 434);
    assert!(panel.lines[0].points.iter().all(|(_, height)| (height - 5_605_000_f64.log10()).abs() < 1e-9));
}

#[test]
fn pictures_are_called_like_their_logs() {
    for (log, picture) in
        [("a/run.csv", "a/run.svg"), ("run.json", "run.svg"), ("a/run.1.full.json", "a/run.1.svg"), ("run", "run.svg")]
    {
        assert_eq!(beside(Path::new(log)), Path::new(picture));
    }
    assert_eq!([7, 1000, 1_234_567].map(thousands), ["7", "1,000", "1,234,567"]);
}
