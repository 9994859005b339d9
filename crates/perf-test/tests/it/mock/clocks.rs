//! Tests of publishers and subscriptions with other clocks than the host: times are converted, and the report shows the
//! error.

use super::{Counts, assert_always, assert_times, measure, measure_all};

test_support::tests![
    the_times_of_other_clocks_are_converted,
    each_publisher_has_its_own_clock,
    a_round_trip_with_another_clock_is_exact,
    the_error_of_the_clocks_stands_beside_latencies,
    a_negative_latency_within_the_error_is_none,
];

const MS: f64 = 1e6;

fn the_times_of_other_clocks_are_converted() {
    let options = "-r 100 --max-runtime 1";
    for run in measure_all([
        ("latency=2ms,clock=300s:1us", options),
        ("latency=2ms,reception-clock=300s:1us", options),
        ("latency=2ms,clock=100s:1us,reception-clock=300s:1us,push", options),
        ("latency=2ms,clock=300s:1us,nameless", options),
        // With unknown matching, publishers send probes, which contain no time.
        ("latency=2ms,clock=100s:1us,reception-clock=300s:1us,matching=unknown", options),
    ]) {
        run.assert_counts(Counts { sent: 100, received: 100, ..Counts::default() });
        let total = &run.summary().total;
        assert_always(&total.latency, 100, 2.0 * MS);
        assert_eq!(total.response.n, 100);
        assert_eq!(total.received.history, 0);
        // The rows cover seconds of the host's clock, so there are at most two.
        assert!(run.log.rows.len() <= 2, "{}", run.run.everything());
    }
}

fn each_publisher_has_its_own_clock() {
    for run in measure_all([
        ("latency=2ms,clock=10s:1us", "-p 3 -s 2 -r 50 --max-runtime 1"),
        ("latency=2ms,clock=10s:1us", "-p 3 -s 2 -r 50 --max-runtime 1 --phase aligned"),
    ]) {
        assert_always(&run.summary().total.latency, 300, 2.0 * MS);
        assert_eq!(run.summary().total.response.n, 300);
    }
}

fn a_round_trip_with_another_clock_is_exact() {
    let script = "latency=2ms,clock=300s:12us,reception-clock=300s:12us";
    let run = measure(script, "--roundtrip-mode Both -r 100 --max-runtime 1");
    assert_always(&run.summary().total.latency, 100, 4.0 * MS);
    // Publisher and subscription use the same clock, so its error cancels out.
    assert_eq!(run.summary().clock_error_ns, None);
    assert!(!run.run.stdout.contains("clocks differ"), "{}", run.run.stdout);
}

fn the_error_of_the_clocks_stands_beside_latencies() {
    let options = "-s 2 -r 1000 --max-runtime 1";
    let [small, large, one] = measure_all([
        ("latency=2ms,clock=3s:12us,reception-clock=2s:8us", options),
        ("latency=2ms,clock=3s:201us", options),
        ("latency=2ms", options),
    ]);
    assert_eq!(small.summary().clock_error_ns, Some(20_000));
    for words in
        ["max 2.00 ms ± 20.0 µs, clocks differ;", "   2.00 ms ± 20.0 µs, clocks differ\n", "max ± 20.0 µs, clocks"]
    {
        assert!(small.run.stdout.contains(words), "no {words:?} in {}", small.run.stdout);
    }
    small.assert_warnings(&[]);
    large.assert_warnings(&["clock-error"]);
    let words =
        "latencies are known to ± 201.0 µs only, because both ends have different clocks; the median is 2.00 ms";
    assert_eq!(large.warning("clock-error"), words);
    assert_eq!(one.summary().clock_error_ns, None);
    assert!(!one.run.stdout.contains("clocks differ"), "{}", one.run.stdout);
}

fn a_negative_latency_within_the_error_is_none() {
    let options = "-r 100 --max-runtime 1";
    let [within, beyond] = measure_all([
        ("latency=2ms,early=10:5us,clock=3s:5us", options),
        ("latency=2ms,early=10:5us,clock=3s:4us", options),
    ]);
    within.assert_counts(Counts { sent: 100, received: 100, ..Counts::default() });
    assert_times(&within.summary().total.latency, &[(0.0, 10), (2.0 * MS, 90)]);
    beyond.assert_counts(Counts { sent: 100, received: 100, negative: 10, ..Counts::default() });
    assert_always(&beyond.summary().total.latency, 90, 2.0 * MS);
}
