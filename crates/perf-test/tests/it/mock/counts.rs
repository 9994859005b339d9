//! Tests of the counts of messages: sent, received, and every kind of defect on the way.

use rustix::process::Signal;

use super::{Counts, Mocked, count_ids, measure, measure_all};
use crate::program::Memory;

test_support::tests![
    losses_are_counted_by_their_cause_and_duplicates_are_none,
    samples_out_of_order_are_neither_lost_nor_fatal,
    every_message_may_come_twice_even_the_last,
    a_good_run_raises_no_warning,
    a_corrupt_payload_fails_the_run_where_it_is_checked,
    a_refused_message_is_neither_sent_nor_lost,
    a_middleware_that_refuses_everything_ends_the_run_with_its_reason,
    every_publisher_has_losses_of_its_own,
    as_fast_as_possible_counts_as_exactly,
    ids_of_32_bits_count_the_same,
    messages_of_seconds_left_out_are_in_no_count,
    a_second_is_exactly_a_second_and_so_is_the_first,
    samples_before_a_late_joiner_are_not_lost,
    all_strategies_count_the_same,
    losses_that_no_later_sample_shows_are_in_the_rows_too,
    losses_of_seconds_left_out_are_in_no_count,
    rows_and_summary_miss_the_same_where_messages_are_refused,
];

fn losses_are_counted_by_their_cause_and_duplicates_are_none() {
    let run = measure("latency=100us,lose=10,overwrite=7,duplicate=11", "-r 500 --max-runtime 2");
    let lost = |id: u64| id.is_multiple_of(10);
    let overwritten = |id: u64| id.is_multiple_of(7) && !lost(id);
    let (unexplained, overwritten_all) = (count_ids(1000, lost), count_ids(1000, overwritten));
    let received = 1000 - unexplained - overwritten_all;
    run.assert_counts(Counts {
        sent: 1000,
        received,
        lost: unexplained + overwritten_all,
        overwritten: overwritten_all,
        unexplained,
        duplicates: count_ids(1000, |id| id.is_multiple_of(11) && !lost(id) && !overwritten(id)),
        ..Counts::default()
    });
    run.assert_warnings(&["overwritten", "lost", "duplicates", "few-samples"]);
    let total = &run.summary().total;
    assert_eq!((total.latency.n, total.response.n, total.received.bytes), (received, received, 128 * received));
    // The last sample is lost. No later sample shows this loss, so it is counted in the last row.
    assert_eq!(run.lost_in_rows(), unexplained + overwritten_all);
}

fn samples_out_of_order_are_neither_lost_nor_fatal() {
    let run = measure("latency=100us,swap=9", "-r 500 --max-runtime 2");
    run.assert_counts(Counts { sent: 1000, received: 1000, reordered: 111, ..Counts::default() });
    run.assert_warnings(&["reordered"]);
    assert_eq!(run.lost_in_rows(), 0);
}

fn every_message_may_come_twice_even_the_last() {
    // The subscription gets the order to finish before the second copy of the last message.
    let run = measure("latency=50ms,duplicate=1", "-r 100 --max-runtime 1 --too-late 1s --late 1s");
    run.assert_counts(Counts { sent: 100, received: 100, duplicates: 100, ..Counts::default() });
    run.assert_warnings(&["duplicates", "few-samples"]);
}

fn a_good_run_raises_no_warning() {
    let run = measure("latency=100us", "-r 1000 --max-runtime 1 --touch full");
    run.assert_counts(Counts { sent: 1000, received: 1000, ..Counts::default() });
    // Ten samples are above p99, which is enough. Only one is above p99.9: the output marks this percentile, without a
    // warning.
    run.assert_warnings(&[]);
}

fn a_corrupt_payload_fails_the_run_where_it_is_checked() {
    let options = |touch| format!("-m Array4k -r 100 --max-runtime 1 --touch {touch}");
    for run in ["page", "full"].map(|touch| Mocked::start("corrupt=9", &options(touch))) {
        let run = run.finish();
        assert_eq!(run.run.status.code(), Some(1), "{}", run.run.everything());
        run.assert_counts(Counts { sent: 100, received: 100, corrupt: 11, ..Counts::default() });
        run.assert_warnings(&["corrupt", "few-samples"]);
        assert!(run.run.stderr.contains("11 samples had a different payload"), "{}", run.run.stderr);
        assert_eq!(run.summary().total.read.n, 100);
    }
    let untouched = measure("corrupt=9", &options("stamp"));
    untouched.assert_counts(Counts { sent: 100, received: 100, ..Counts::default() });
    assert_eq!(untouched.summary().total.read.n, 0);
}

fn a_refused_message_is_neither_sent_nor_lost() {
    let run = measure("refuse=9", "-s 2 -r 100 --max-runtime 1");
    run.assert_counts(Counts { sent: 89, refused: 11, received: 178, ..Counts::default() });
    run.assert_warnings(&["endpoint", "refused", "few-samples"]);
    assert_eq!(run.warning("endpoint"), "publisher 0: a message was refused: the script of the mock refuses message 9");
    assert_eq!(run.lost_in_rows(), 0, "{}", run.run.stdout);
}

fn a_middleware_that_refuses_everything_ends_the_run_with_its_reason() {
    let run = Mocked::start("refuse=1", "-r 1000 --max-runtime 5").finish();
    assert_eq!(run.run.status.code(), Some(1), "{}", run.run.everything());
    let reason = "100 refused messages in a row; the last: the script of the mock refuses message 100";
    assert!(run.run.stdout.contains(reason), "{}", run.run.stdout);
}

fn every_publisher_has_losses_of_its_own() {
    let run = measure("lose=10,swap=7", "-p 3 -s 2 -r 100 --max-runtime 1");
    let lost = 3 * 2 * 10;
    let reordered = 3 * 2 * count_ids(100, |id| id.is_multiple_of(7) && !id.is_multiple_of(10));
    run.assert_counts(Counts {
        sent: 300,
        received: 600 - lost,
        lost,
        unexplained: lost,
        reordered,
        ..Counts::default()
    });
    run.assert_warnings(&["lost", "reordered", "few-samples"]);
}

fn as_fast_as_possible_counts_as_exactly() {
    let run = measure("lose=100,duplicate=33", "-r 0 --max-runtime 1");
    let sent = run.counts().sent;
    assert!(sent > 1000, "{}", run.run.stdout);
    let (lost, late) = (sent / 100, run.counts().late);
    let duplicates = count_ids(sent, |id| id.is_multiple_of(33) && !id.is_multiple_of(100));
    run.assert_counts(Counts {
        sent,
        received: sent - lost,
        lost,
        unexplained: lost,
        duplicates,
        late,
        ..Counts::default()
    });
    // With `-r 0`, messages have no due time.
    let total = &run.summary().total;
    assert_eq!((total.latency.n, total.response.n, total.send_lateness.n), (sent - lost, 0, 0));
}

fn ids_of_32_bits_count_the_same() {
    let run = measure("lose=10,swap=7", "-m stamped9_float32 -r 100 --max-runtime 1");
    let reordered = count_ids(100, |id| id.is_multiple_of(7) && !id.is_multiple_of(10));
    run.assert_counts(Counts { sent: 100, received: 90, lost: 10, unexplained: 10, reordered, ..Counts::default() });
}

fn messages_of_seconds_left_out_are_in_no_count() {
    // Each publisher sends two messages per second, and none is half a second late. So messages five and six count in
    // the third second.
    let run = measure("lose=2", "-p 5 -r 2 --warmup 1 --ignore 1 --max-runtime 2");
    run.assert_counts(Counts { sent: 10, received: 5, lost: 5, unexplained: 5, ..Counts::default() });
    // The rows are the one second that counts, and a row with the last lost samples.
    assert_eq!((run.log.rows.len(), run.log.rows[0].length_s, run.summary().measured_s), (2, 1.0, 1.0));
    assert_eq!((run.log.rows[0].total.received.missed, run.lost_in_rows()), (0, 5));
    let total = &run.summary().total;
    assert_eq!((total.latency.n, total.response.n, total.send_lateness.n), (5, 5, 10));
}

fn a_second_is_exactly_a_second_and_so_is_the_first() {
    let run = measure("latency=1ms", "-p 5 -r 2 --max-runtime 3");
    let rows: Vec<(f64, f64)> = run.log.rows.iter().map(|row| (row.t_s, row.length_s)).collect();
    assert_eq!(rows, [(1.0, 1.0), (2.0, 1.0), (3.0, 1.0)]);
    for total in run.log.rows.iter().map(|row| &row.total) {
        assert_eq!((total.sent.samples, total.received.samples, total.latency.n, total.response.n), (10, 10, 10, 10));
        assert_eq!((total.received.bytes, total.received.missed), (1280, 0));
    }
}

fn samples_before_a_late_joiner_are_not_lost() {
    let memory = Memory::new();
    let options = "-c Mock --mock join=100,lose=7 -t late";
    let subscriber = memory.start(&format!("{options} -p 0 --expected-num-pubs 1"));
    // The publisher sends the first sample after joining (number 101) a second after its start, so the subscription is
    // already running.
    let publisher = memory.run(&format!("{options} -s 0 --expected-num-subs 1 -r 100 --max-runtime 3"));
    publisher.assert_good();
    assert_eq!(publisher.number("sent"), 300);
    subscriber.signal(Signal::INT);
    let run = subscriber.finish();
    run.assert_good();
    let lost = count_ids(300, |id| id > 100 && id.is_multiple_of(7));
    assert_eq!((run.number("received"), run.number("lost")), (200 - lost, lost), "{}", run.stdout);
    assert!(run.stdout.contains("100 sent before matching, 0 from the history"), "{}", run.stdout);
    memory.assert_empty();
}

fn all_strategies_count_the_same() {
    let options = |strategy| format!("-e {strategy} -s 2 -r 100 --max-runtime 1");
    let scripts = "latency=2ms,lose=10,overwrite=11,duplicate=3";
    let [apart, threads, one_thread] = ["INTER_PROCESS", "INTER_THREAD", "INTRA_THREAD"].map(options);
    let [apart, threads, one_thread] =
        measure_all([(scripts, &apart), (scripts, &threads), (scripts, &one_thread)]).map(|run| run.counts());
    let duplicates = 2 * count_ids(100, |id| id.is_multiple_of(3) && !id.is_multiple_of(10) && !id.is_multiple_of(11));
    let expected = Counts {
        sent: 100,
        received: 162,
        lost: 38,
        overwritten: 18,
        unexplained: 20,
        duplicates,
        ..Counts::default()
    };
    assert_eq!((&apart, &threads, &one_thread), (&expected, &expected, &expected));
}

fn losses_that_no_later_sample_shows_are_in_the_rows_too() {
    let run = Mocked::start("lose=1", "-r 100 --max-runtime 2").finish();
    assert_eq!(run.run.status.code(), Some(1), "{}", run.run.everything());
    assert_eq!((run.summary().lost, run.lost_in_rows()), (200, 200), "{}", run.run.stdout);
}

fn losses_of_seconds_left_out_are_in_no_count() {
    let [joined, overwritten] = measure_all([
        ("join=100", "-r 100 --warmup 1 --max-runtime 2"),
        ("overwrite=100", "-r 100 --warmup 1 --max-runtime 2"),
    ]);
    joined.assert_counts(Counts { sent: 200, received: 200, ..Counts::default() });
    assert_eq!(joined.lost_in_rows(), 0, "{}", joined.run.stdout);
    // The script overwrites the messages 100, 200 and 300; message 100 belongs to the warm-up.
    overwritten.assert_counts(Counts { sent: 200, received: 198, lost: 2, overwritten: 2, ..Counts::default() });
}

fn rows_and_summary_miss_the_same_where_messages_are_refused() {
    let run = measure("refuse=3,lose=10", "-p 3 -s 2 -r 50 --max-runtime 2");
    let received = &run.summary().total.received;
    assert_eq!((run.lost_in_rows(), received.missed - received.reordered), (run.counts().lost, run.counts().lost));
}
