//! The contract between instrument and middleware: every way of delivery gives the same results, and what was asked for is checked.

use super::{Counts, assert_always, measure, measure_all};
use crate::program::Memory;

test_support::tests![
    messages_that_are_pushed_count_as_those_that_are_taken,
    a_pushed_message_is_in_the_row_of_its_second,
    a_pushed_run_ends_when_messages_are_lost,
    pushed_messages_cannot_be_taken_on_the_publishers_thread,
    copies_instead_of_loans_are_counted,
];

const MS: f64 = 1e6;

fn messages_that_are_pushed_count_as_those_that_are_taken() {
    let script = "latency=2ms,lose=10,overwrite=7,duplicate=11,swap=9,corrupt=13";
    let options = "-s 2 -r 500 --max-runtime 2";
    let [pulled, pushed] = measure_all([(script, options), (&format!("{script},push"), options)]);
    assert_eq!(pulled.counts(), pushed.counts());
    let counts = pushed.counts();
    let seen = [counts.lost, counts.overwritten, counts.duplicates, counts.reordered];
    assert!(counts.sent == 1000 && seen.iter().all(|count| *count > 0), "{counts:?}");
    assert_always(&pushed.summary().total.latency, counts.received, 2.0 * MS);
    let threads = pushed.summary().workers.iter().flat_map(|worker| &worker.threads);
    assert!(threads.filter(|thread| thread.name == "mock-delivery").count() == 2, "it was not pushed");
}

fn a_pushed_message_is_in_the_row_of_its_second() {
    let run = measure("latency=100ms,push", "-r 4 --max-runtime 3");
    let received: Vec<u64> = run.log.rows.iter().map(|row| row.total.received.samples).collect();
    assert_eq!(received, [4, 4, 4], "{}", run.run.everything());
}

fn a_pushed_run_ends_when_messages_are_lost() {
    let run = measure("latency=1ms,lose=100,push", "-r 100 --max-runtime 1");
    run.assert_counts(Counts { sent: 100, received: 99, lost: 1, unexplained: 1, ..Counts::default() });
}

fn pushed_messages_cannot_be_taken_on_the_publishers_thread() {
    for options in ["-e INTRA_THREAD", "--roundtrip-mode Both"] {
        let memory = Memory::new();
        let run = memory.start(&format!("-c Mock --mock push {options} -r 10 --max-runtime 1")).finish();
        assert_eq!(run.status.code(), Some(1));
        assert!(run.stderr.contains("delivers them on others"), "{}", run.everything());
    }
}

fn copies_instead_of_loans_are_counted() {
    let run = measure("latency=1ms,copy", "-r 100 --max-runtime 1 --zero-copy");
    let total = &run.summary().total;
    assert_eq!((total.sent.copied, total.received.copied), (100, 100));
    run.assert_warnings(&["copied", "few-samples"]);
    assert!(run.warning("copied").contains("100 on publish, 100 on take"), "{}", run.warning("copied"));
    // Without zero copy a copy is what was asked for.
    let run = measure("latency=1ms,copy", "-r 100 --max-runtime 1");
    let total = &run.summary().total;
    assert_eq!((total.sent.copied, total.received.copied), (0, 0));
}
