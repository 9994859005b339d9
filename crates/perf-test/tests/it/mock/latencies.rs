//! Tests of latencies from the send time and from the due time: distributions, the classes late and too late, and round
//! trips.

use rustix::process::Signal;

use super::{Counts, assert_always, assert_close, assert_times, measure, measure_all};
use crate::program::Memory;

test_support::tests![
    late_and_too_late_samples_are_in_every_figure,
    samples_received_before_they_were_sent_are_counted,
    the_latency_from_the_due_time_includes_the_lateness_of_sending,
    the_latency_from_the_due_time_knows_the_phase_of_each_publisher,
    the_delay_of_a_late_publisher_is_in_the_latency_from_the_due_time_only,
    a_subscription_that_starves_is_seen,
    a_round_trip_is_the_way_there_and_the_way_back,
    a_service_answers_the_client_that_asked,
    a_request_that_was_refused_is_no_loss,
    a_relay_that_receives_messages_twice_relays_all,
    two_programs_measure_a_round_trip,
    the_slowest_of_all_is_not_lost_because_it_is_the_last,
    samples_in_flight_at_the_end_are_waited_for_also_from_another_program,
];

const MS: f64 = 1e6;

fn late_and_too_late_samples_are_in_every_figure() {
    // At 100 Hz, a message above 2.5 ms is late, and a message above 10 ms is too late.
    let [some, all, on_the_limit, above_it] = measure_all([
        ("latency=2ms,slow=20:7ms", "-r 100 --max-runtime 2"),
        ("latency=3ms,slow=4:15ms", "-r 100 --max-runtime 2"),
        ("latency=2500us,slow=2:10ms", "-r 100 --max-runtime 2"),
        ("latency=2500001ns,slow=2:10000001ns", "-r 100 --max-runtime 2"),
    ]);
    for (run, late, too_late, times) in [
        (&some, 10, 0, [(2.0 * MS, 190), (7.0 * MS, 10)]),
        (&all, 150, 50, [(3.0 * MS, 150), (15.0 * MS, 50)]),
        (&on_the_limit, 100, 0, [(2.5 * MS, 100), (10.0 * MS, 100)]),
        (&above_it, 100, 100, [(2_500_001.0, 100), (10_000_001.0, 100)]),
    ] {
        run.assert_counts(Counts { sent: 200, received: 200, late, too_late, ..Counts::default() });
        assert_times(&run.summary().total.latency, &times);
    }
    let words = "150 (75.00 %, > 2.50 ms); too late 50 (25.00 %, > 10.00 ms); of 200 received";
    assert!(all.run.stdout.contains(words), "{}", all.run.stdout);
}

fn samples_received_before_they_were_sent_are_counted() {
    let run = measure("latency=2ms,early=10:1us", "-r 100 --max-runtime 2");
    run.assert_counts(Counts { sent: 200, received: 200, negative: 20, ..Counts::default() });
    run.assert_warnings(&["negative-latency", "few-samples"]);
    assert_always(&run.summary().total.latency, 180, 2.0 * MS);
}

fn the_latency_from_the_due_time_includes_the_lateness_of_sending() {
    let run = measure("latency=2ms", "-r 200 --max-runtime 2");
    let total = &run.summary().total;
    assert_always(&total.latency, 400, 2.0 * MS);
    let (response, lateness) = (&total.response, &total.send_lateness);
    assert_eq!((response.n, lateness.n), (400, 400));
    for (response_ns, lateness_ns) in
        [(response.min_ns, lateness.min_ns), (response.mean_ns, lateness.mean_ns), (response.max_ns, lateness.max_ns)]
    {
        assert_close(response_ns.unwrap(), lateness_ns.unwrap() + 2.0 * MS, 1e-9);
    }
    // The latency adds a constant, which does not change the variance.
    let (response_ns2, lateness_ns2) = (response.variance_ns2.unwrap(), lateness.variance_ns2.unwrap());
    assert_close(response_ns2, lateness_ns2, 1e-6);
}

fn the_latency_from_the_due_time_knows_the_phase_of_each_publisher() {
    let [spread, random, aligned] = measure_all([
        ("latency=2ms", "-p 4 -r 20 --max-runtime 2"),
        ("latency=2ms", "-p 4 -r 20 --max-runtime 2 --phase random"),
        ("latency=2ms", "-p 4 -r 20 --max-runtime 2 --phase aligned"),
    ]);
    const QUARTER_NS: i64 = 12_500_000;
    assert_eq!(spread.summary().phases_ns, [0, QUARTER_NS, 2 * QUARTER_NS, 3 * QUARTER_NS]);
    assert!(random.summary().phases_ns.iter().any(|phase_ns| phase_ns % QUARTER_NS != 0), "{:?}", random.summary());
    for (run, words) in [(&spread, "spread evenly"), (&random, "random phase"), (&aligned, "aligned")] {
        let total = &run.summary().total;
        let (response, lateness) = (&total.response, &total.send_lateness);
        assert_eq!((response.n, lateness.n), (160, 160));
        assert_close(response.mean_ns.unwrap(), lateness.mean_ns.unwrap() + 2.0 * MS, 1e-9);
        assert_close(response.max_ns.unwrap(), lateness.max_ns.unwrap() + 2.0 * MS, 1e-9);
        assert!(run.run.stdout.contains(words), "{}", run.run.stdout);
    }
}

fn the_delay_of_a_late_publisher_is_in_the_latency_from_the_due_time_only() {
    let run = measure("latency=2ms,stall=50:300ms", "-r 100 --max-runtime 2");
    // The classes late and too late use the latency from the send time, so no message is late.
    run.assert_counts(Counts { sent: 200, received: 200, ..Counts::default() });
    let total = &run.summary().total;
    assert_always(&total.latency, 200, 2.0 * MS);
    // Thirty messages became due during the stall; the first of them waited for 300 ms.
    assert!(total.response.max_ns.unwrap() >= 302.0 * MS, "{:?}", total.response);
    // At 100 Hz, 10 ms is too late: of the 30 messages that became due during the stall, 29 were at least 10 ms late.
    assert!(total.received.too_late_response >= 29, "{:?}", total.received);
    assert!(total.response.p90_ns.unwrap() as f64 >= 90.0 * MS, "{:?}", total.response);
    assert!(total.send_lateness.max_ns.unwrap() >= 300.0 * MS, "{:?}", total.send_lateness);
    assert!(total.send_lateness.p90_ns.unwrap() as f64 >= 88.0 * MS, "{:?}", total.send_lateness);
    assert!(total.loop_reserve.min_ns.unwrap() <= -290.0 * MS, "{:?}", total.loop_reserve);
}

fn a_subscription_that_starves_is_seen() {
    let run = measure("latency=2ms,lose=2,subscription=1", "-s 3 -r 100 --max-runtime 2");
    let each = &run.summary().subscriptions;
    let figures: Vec<_> = each.iter().map(|of| (of.index, of.received.samples, of.lost, of.p50_ns.unwrap())).collect();
    // The script changes only subscription 1; the others have the default latency of 1 ms.
    let ms = |ms: f64, found: u64| assert_close(found as f64, ms * MS, 1e-3);
    assert_eq!(
        figures.iter().map(|of| (of.0, of.1, of.2)).collect::<Vec<_>>(),
        [(0, 200, 0), (1, 100, 100), (2, 200, 0)]
    );
    [(1.0, 0), (2.0, 1), (1.0, 2)].iter().for_each(|(expected, index)| ms(*expected, figures[*index].3));
    assert_eq!(each.iter().map(|of| of.received.samples).sum::<u64>(), run.summary().total.received.samples);
    assert!(run.run.stdout.contains("subscription 1          100       100"), "{}", run.run.stdout);
}

fn a_round_trip_is_the_way_there_and_the_way_back() {
    let options = |strategy| format!("--roundtrip-mode Both -r 100 --max-runtime 1 -e {strategy}");
    let (apart, threads) = (options("INTER_PROCESS"), options("INTER_THREAD"));
    for run in measure_all([("latency=2ms,lose=10", &apart), ("latency=2ms,lose=10", &threads)]) {
        // Here, too, a message above 2.5 ms is late, so all messages are late.
        let counts =
            Counts { sent: 100, received: 90, lost: 10, unexplained: 10, relayed: 90, late: 90, ..Counts::default() };
        run.assert_counts(counts);
        assert_always(&run.summary().total.latency, 90, 4.0 * MS);
    }
}

fn a_service_answers_the_client_that_asked() {
    // A response above 2.5 ms is late. Every tenth request of each client is lost, but no response is lost.
    let options = |strategy| format!("--roundtrip-mode Service -p 3 -r 100 --max-runtime 1 -e {strategy}");
    let (apart, threads) = (options("INTER_PROCESS"), options("INTER_THREAD"));
    for run in measure_all([("latency=2ms,lose=10", &apart), ("latency=2ms,lose=10", &threads)]) {
        let counts = Counts {
            sent: 300,
            received: 270,
            lost: 30,
            unexplained: 30,
            relayed: 270,
            late: 270,
            ..Counts::default()
        };
        run.assert_counts(counts);
        assert_always(&run.summary().total.latency, 270, 4.0 * MS);
        let each: Vec<_> = run.summary().subscriptions.iter().map(|of| (of.received.samples, of.lost)).collect();
        assert_eq!(each, [(90, 10); 3]);
        assert!(run.run.stdout.contains("answered 270; latencies are from a request to its response"));
    }
}

fn a_request_that_was_refused_is_no_loss() {
    let run = measure("latency=1ms,refuse=10", "--roundtrip-mode Service -p 2 -r 100 --max-runtime 2");
    run.assert_counts(Counts { sent: 360, refused: 40, received: 360, relayed: 360, ..Counts::default() });
}

fn a_relay_that_receives_messages_twice_relays_all() {
    // The relay gets the number of messages while the last ones are still in flight.
    let run =
        measure("latency=60ms,duplicate=2", "--roundtrip-mode Both -r 100 --max-runtime 1 --late 1s --too-late 1s");
    // Each direction duplicates every second message.
    run.assert_counts(Counts { sent: 100, received: 100, duplicates: 150, relayed: 150, ..Counts::default() });
}

fn two_programs_measure_a_round_trip() {
    let memory = Memory::new();
    let options = "-c Mock --mock latency=3ms -t there_and_back";
    let relay = memory.start(&format!("{options} --roundtrip-mode Relay"));
    let main = memory.run(&format!("{options} --roundtrip-mode Main -r 100 --max-runtime 1"));
    main.assert_good();
    relay.signal(Signal::INT);
    let relay = relay.finish();
    relay.assert_good();
    assert_eq!((main.number("sent"), main.number("received"), main.number("lost")), (100, 100, 0), "{}", main.stdout);
    assert!(main.stdout.contains("p50 6.00 ms, p99 6.00 ms, max 6.00 ms"), "{}", main.stdout);
    assert_eq!(relay.number("relayed"), 100, "{}", relay.everything());
    memory.assert_empty();
}

fn the_slowest_of_all_is_not_lost_because_it_is_the_last() {
    let [one, slow] = measure_all([
        ("latency=1ms,slow=200:600ms", "-r 100 --max-runtime 2"),
        ("latency=1200ms", "-r 2 --max-runtime 3"),
    ]);
    one.assert_counts(Counts { sent: 200, received: 200, too_late: 1, ..Counts::default() });
    assert!(one.run.stdout.contains("max 600.00 ms; lost 0"), "{}", one.run.stdout);
    slow.assert_counts(Counts { sent: 6, received: 6, too_late: 6, ..Counts::default() });
}

fn samples_in_flight_at_the_end_are_waited_for_also_from_another_program() {
    let memory = Memory::new();
    let options = "-c Mock --mock latency=400ms -t under_way -r 50";
    let publisher = memory.start(&format!("{options} -s 0 --expected-num-subs 1"));
    let subscriber = memory.run(&format!("{options} -p 0 --expected-num-pubs 1 --max-runtime 2"));
    publisher.signal(Signal::INT);
    drop(publisher.finish());
    subscriber.assert_good();
    // Both programs start after matching, but at different times, so the counts may differ by a message.
    let received = subscriber.number("received");
    assert!((90..=101).contains(&received), "{}", subscriber.stdout);
    assert_eq!(subscriber.number("lost"), 0, "{}", subscriber.stdout);
    memory.assert_empty();
}
