//! Tests of the lines of the summary, and of the runs that count as failed.

use super::*;
use crate::cli;
use crate::log::{Distribution, PublisherEntry, Spread, SubscriptionEntry, TotalEntry, UsedEntry, WorkerEntry};
use crate::measure::daemon::DaemonUsage;
use perf_worker::measure::calibration::Calibration;
use perf_worker::measure::{
    histogram::Latencies,
    memory::Memory,
    moments::Moments,
    own_cost::OwnCost,
    tally::{Received, Sent, Tally},
};

/// A run with these options, of 30 s at 100 Hz with messages of 4 MB.
pub(crate) fn spec(options: &str) -> RunSpec {
    let line = format!("perf_test -m Array4m -r 100 --max-runtime 30 {options}");
    let cli = cli::parse(line.split_whitespace().map(Into::into)).unwrap();
    cli::resolve(&cli.options).unwrap().spec
}

/// The statistics of `n` equal times.
pub(crate) fn times(n: u64, ns: u64) -> Distribution {
    let mut histogram = Latencies::default();
    histogram.add_cells(&[(ns, n)]);
    let at = ns as f64;
    Distribution::new(&Moments { n, min: at, max: at, mean: at, m2: 0.0 }, &histogram)
}

/// The summary of a run with these options. All latencies are `latency_ns`.
pub(crate) fn summary(options: &str, latency_ns: u64) -> Summary {
    let spec = spec(options);
    let used = UsedEntry { user_ns: 1_000_000_000, system_ns: 500_000_000, ..UsedEntry::default() };
    let calibration =
        Calibration { clock_ns: 25.0, wake_up_ns: 20_000.0, fill_ns: 2e5, warm_copy_ns: 4e5, paced_copy_ns: 5e5 };
    let worker = |label: &str, pid| WorkerEntry {
        label: label.to_owned(),
        pid,
        used,
        instrument_used: UsedEntry::default(),
        memory: Memory { peak_rss_kib: 60_000, ..Memory::default() },
        footprint: None,
        device: None,
        instrument_bytes: None,
        threads: Vec::new(),
    };
    let sent = Sent { samples: 3000, ..Sent::default() };
    let received = Received { samples: 3000, ..Received::default() };
    let total = TotalEntry::new(&Tally { sent, ..Tally::default() }, &received);
    Summary {
        stopped_early: false,
        failure: None,
        measured_s: 30.0,
        matched_after_ns: 12_000_000,
        start_up_ns: Some(90_000_000),
        phases_ns: vec![0],
        clock_error_ns: None,
        achieved_hz: if spec.publishers == 0 { 0.0 } else { 100.0 },
        total: TotalEntry { latency: times(3000, latency_ns), response: times(3000, latency_ns), ..total },
        sent_at_least: 3000,
        lost: 0,
        unexplained: 0,
        before_matched: 0,
        used: UsedEntry { user_ns: 2_000_000_000, system_ns: 700_000_000, ..UsedEntry::default() },
        instrument_used: UsedEntry { user_ns: 10_000_000, system_ns: 5_000_000, ..UsedEntry::default() },
        core_percent: 9.0,
        cpu_per_message_ns: Some(900_000.0),
        cores: 2,
        subscriptions: (0..spec.subscriptions).map(|index| subscription_entry(index, 0, latency_ns)).collect(),
        publishers: (0..spec.publishers).map(publisher_entry).collect(),
        servers: Vec::new(),
        chains: Vec::new(),
        workers: vec![worker("publisher 0", 10), worker("subscription 0", 11)],
        daemons: Vec::new(),
        coordinator_used: used,
        own_cost: OwnCost { send_ns: 90.0, receive_ns: 110.0 },
        calibration_before: calibration,
        calibration_after: calibration,
        warnings: Vec::new(),
        requirements: Vec::new(),
        exited: None,
        hung: false,
    }
}

/// The printed summary of a run, with its warnings.
fn printed(options: &str, run: &Summary) -> String {
    let spec = spec(options);
    let (failure, warnings) = (run.find_failure(&spec), run.figure_warnings(&spec));
    Summary { failure, warnings, ..run.clone() }.lines(&spec).join("\n")
}

/// The record of a daemon whose peak memory is 5000 KiB.
pub(crate) fn daemon() -> DaemonUsage {
    DaemonUsage {
        started_by_run: false,
        name: "router".to_owned(),
        pid: 12,
        cpu_ns: 300_000_000,
        core_percent: 1.0,
        memory: Memory { peak_rss_kib: 5000, ..Memory::default() },
        footprint: None,
        threads: Vec::new(),
    }
}

#[test]
fn a_good_run_is_reported_in_full() {
    let summary = summary("", 1_000_000);
    let text = printed("", &summary);
    for words in [
        "summary of 30.0 s: Array4m, 4194304 bytes (2.x layout) over Gantry, copy",
        "in short      p50 1.00 ms, p99 1.00 ms, max 1.00 ms; lost 0; rate held; CPU 9.0 % of one core; 117.2 MiB peak; no warnings",
        "sent 3000, received 3000, lost 0",
        "late          0 (0.00 %, > 2.50 ms); too late 0 (0.00 %, > 10.00 ms); of 3000 received",
        "matched       12.00 ms after the creation of the last endpoint",
        "costs 90 ns per message sent and 110 ns per message received",
        "over Gantry, copy, payload touched: stamp, readers wait by the middleware's own strategy\n",
        "  from send          3000    1.00 ms",
        "prepare       mean 0 ns, max 0 ns, n 0 (",
        "waking a thread 20.0 µs, reading the clock 25 ns",
        "100.00 per second and publisher, requested 100",
        "9.00 % of one core, 4.50 % of all 2, 900.0 µs per message",
        "117.2 MiB peak, sum of all workers and daemons",
        "1.22 × (2 warm copies + 1 wake-up = 820.0 µs),",
        "and 0.98 × the same with copies at the run's rate (1.02 ms); a run has more slots",
        "its reports took 15.00 ms of CPU during measurement, not included in it",
    ] {
        assert!(text.contains(words), "{words:?} is not in\n{text}");
    }
    assert_eq!(summary.find_failure(&spec("")), None);
}

/// A subscription that lost `lost` of 1000 messages. All other messages have the same latency.
pub(crate) fn subscription_entry(index: u32, lost: u64, latency_ns: u64) -> SubscriptionEntry {
    let latency = times(1000 - lost, latency_ns);
    SubscriptionEntry {
        index,
        place: None,
        sent: 0,
        received: Received { samples: 1000 - lost, late: 5, ..Received::default() },
        lost,
        latency: latency.spread,
        p50_ns: latency.p50_ns,
        p99_ns: latency.p99_ns,
        overload: None,
    }
}

/// A publisher that was never late.
pub(crate) fn publisher_entry(index: u32) -> PublisherEntry {
    PublisherEntry {
        index,
        place: None,
        sent: Sent { samples: 3000, ..Sent::default() },
        lateness: Spread::default(),
        publish: Spread::default(),
        interval: Spread::default(),
        p50_ns: None,
        p99_ns: None,
    }
}

#[test]
fn each_subscription_is_shown_and_of_many_the_worst() {
    let few = vec![subscription_entry(0, 0, 1_000_000), subscription_entry(1, 1000, 0)];
    let text = printed("-s 2", &Summary { subscriptions: few, ..summary("-s 2", 1000) });
    assert!(
        text.contains("subscription 0         1000         0         5         0   1.00 ms   1.00 ms   1.00 ms"),
        "{text}"
    );
    assert!(text.contains("subscription 1            0      1000         5         0"), "{text}");
    let mut many: Vec<SubscriptionEntry> = (0..100).map(|index| subscription_entry(index, 0, 1000)).collect();
    many[42] = subscription_entry(42, 1000, 0);
    many[17] = subscription_entry(17, 0, 9_000_000);
    let text = printed("-s 100", &Summary { subscriptions: many, ..summary("-s 100", 1000) });
    let shown: Vec<&str> =
        text.lines().filter(|line| line.contains("  subscription ") && !line.contains("KiB")).collect();
    assert!(shown.len() == 8 && shown[0].contains("subscription 42") && shown[1].contains("subscription 17"), "{text}");
    assert!(!printed("", &summary("", 1000)).contains("subscriptions "), "a table of one");
}

#[test]
fn percentiles_with_fewer_than_ten_samples_beyond_are_marked() {
    let text = printed("", &summary("", 1_000_000));
    // 30 of 3000 samples are beyond p99 and 3 beyond p99.9, so p99.9 and p99.99 are marked in two rows of latencies.
    assert_eq!(text.matches("1.00 ms*").count(), 4, "{text}");
    assert!(text.contains("   1.00 ms    1.00 ms    1.00 ms   1.00 ms*   1.00 ms*"), "{text}");
    assert!(text.contains("* fewer than 10 samples"));
}

#[test]
fn a_slow_copy_path_and_a_missed_rate_are_reported() {
    let slow = Summary { measured_s: 40.0, achieved_hz: 75.0, ..summary("", 2_000_000) };
    let text = printed("", &slow);
    assert!(text.contains("2.44 ×") && !text.contains("goal"), "{text}");
    assert!(text.contains("the publishers did not hold the rate: 75.00 of 100"), "{text}");
    assert_eq!(summary("--zero-copy", 1000).copy_ratio(&spec("--zero-copy")), None);
}

#[test]
fn a_machine_that_changed_during_the_run_is_reported_and_the_mean_used() {
    let mut drifted = summary("", 1_000_000);
    drifted.calibration_after.warm_copy_ns = 6e5;
    let text = printed("", &drifted);
    for words in ["0.98 × (2 warm copies + 1 wake-up = 1.02 ms)", "820.0 µs before the run, 1.22 ms after it"] {
        assert!(text.contains(words), "{words:?} is not in\n{text}");
    }
    assert_eq!(text.matches("before the run,").count(), 1, "the paced copies did not change:\n{text}");
}

#[test]
fn losses_are_split_into_classes_that_add_up() {
    let mut lossy = summary("", 1000);
    (lossy.lost, lossy.unexplained) = (10, 3);
    lossy.total.received.overwritten = 7;
    let text = printed("", &lossy);
    assert!(
        text.contains("lost 10") && text.contains("7 left the history before they were taken, 3 unexplained"),
        "{text}"
    );
}

#[test]
fn losses_have_no_cause_where_the_middleware_does_not_count_what_it_overwrites() {
    let mut lossy = Summary { lost: 10, unexplained: 10, ..summary("", 1000) };
    let mut spec = spec("");
    spec.capabilities.overwritten = false;
    lossy.warnings = lossy.figure_warnings(&spec);
    let text = lossy.lines(&spec).join("\n");
    for words in
        ["lost 10", "or overwritten: this middleware does not count which", "10 samples were lost or overwritten, and"]
    {
        assert!(text.contains(words), "{words:?} is not in\n{text}");
    }
    assert!(!text.contains("left the history") && !text.contains("unexplained"), "{text}");
}

#[test]
fn late_and_too_late_are_parts_of_what_was_received() {
    let mut run = Summary { sent_at_least: 6000, lost: 3000, ..summary("", 1000) };
    (run.total.received.late, run.total.received.too_late) = (150, 30);
    let text = printed("", &run);
    let words = "150 (5.00 %, > 2.50 ms); too late 30 (1.00 %, > 10.00 ms); of 3000 received";
    assert!(text.contains(words), "{text}");
}

#[test]
fn late_responses_are_parts_of_the_responses() {
    let mut run = summary("", 1000);
    run.total.response = times(1000, 1000);
    (run.total.received.late_response, run.total.received.too_late_response) = (100, 20);
    let text = printed("", &run);
    assert!(text.contains("by the latency from due time: 100 (10.00 %); too late 20 (2.00 %); of 1000"), "{text}");
}

#[test]
fn the_usage_of_daemons_is_in_the_cost_of_a_message_and_in_the_memory() {
    let run = Summary { daemons: vec![daemon()], cpu_per_message_ns: Some(1e6), ..summary("", 1000) };
    let text = printed("", &run);
    for words in [
        "and 1.0 % in daemons; 122.1 MiB peak;",
        "memory        122.1 MiB peak, sum of all workers and daemons;",
        "4.50 % of all 2 without daemons, 1.00 ms per message with daemons",
        "router                       5000 KiB peak, 300.00 ms CPU",
    ] {
        assert!(text.contains(words), "{words:?} is not in\n{text}");
    }
}

#[test]
fn a_run_that_measured_nothing_fails_with_the_reason() {
    let failure = |options: &str, change: fn(&mut Summary)| {
        let mut run = summary(options, 1000);
        change(&mut run);
        run.find_failure(&spec(options))
    };
    let nothing_sent = |run: &mut Summary| (run.total.sent, run.sent_at_least) = (Sent::default(), 0);
    assert!(failure("", nothing_sent).unwrap().contains("no sample was sent"));
    let nothing_received = |run: &mut Summary| {
        run.total.received = Received::default();
        run.total.latency = times(0, 0);
    };
    assert!(failure("", nothing_received).unwrap().contains("no sample was received"));
    let mut empty = summary("", 1000);
    nothing_received(&mut empty);
    assert!(printed("", &empty).contains("the measurement failed: no sample was received"));
    // All publishers were killed before their first report.
    let gone = |run: &mut Summary| {
        (run.exited, run.total.sent, run.sent_at_least) = (Some("publishers"), Sent::default(), 62);
    };
    assert!(failure("", gone).unwrap().contains("none of the publishers finished the run"));
    assert_eq!(failure("-s 0", nothing_received), None);
    let unmatched = |run: &mut Summary| run.total.sent.unmatched = run.total.sent.samples;
    assert!(failure("-s 0", unmatched).unwrap().contains("no subscription was matched"));
    assert!(failure("", |run| run.total.received.corrupt = 1).is_some());
}
