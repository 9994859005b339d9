//! Tests of the contract between instrument and middleware: each kind of delivery gives the same results, and the
//! requested options are checked.

use super::{Counts, Measured, assert_always, measure, measure_all};
use crate::program::Memory;
use perf_worker::backend::DeliveryKind;

test_support::tests![
    messages_that_are_pushed_count_as_those_that_are_taken,
    a_pushed_message_is_in_the_row_of_its_second,
    a_pushed_run_ends_when_messages_are_lost,
    pushed_messages_cannot_be_taken_on_the_publishers_thread,
    copies_instead_of_loans_are_counted,
    a_middleware_that_prints_disturbs_nothing,
    a_setting_arrives_and_is_part_of_the_log,
    a_setting_without_effect_ends_the_run,
    an_option_without_effect_ends_the_run,
    publishers_that_cannot_be_told_apart_need_a_topic_each,
    a_setting_that_does_not_exist_is_refused_with_those_that_do,
    gantry_publishes_in_both_modes,
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
    // Figures of pull and push delivery are not comparable, so the log contains the kind of delivery.
    assert_eq!(pulled.log.run.spec.delivery, DeliveryKind::Pull);
    assert_eq!(pushed.log.run.spec.delivery, DeliveryKind::Push);
    let says = |run: &Measured| run.run.stdout.contains("readers     do not wait: threads of the middleware deliver");
    assert!(!says(&pulled) && says(&pushed), "{}", pushed.run.stdout);
    let threads = pushed.summary().workers.iter().flat_map(|worker| &worker.threads);
    assert!(threads.filter(|thread| thread.name == "mock-delivery").count() == 2, "it was not pushed");
}

fn a_pushed_message_is_in_the_row_of_its_second() {
    let run = measure("latency=100ms,push", "-r 2 --max-runtime 3");
    let received: Vec<u64> = run.log.rows.iter().map(|row| row.total.received.samples).collect();
    assert_eq!(received, [2, 2, 2], "{}", run.run.everything());
}

fn a_pushed_run_ends_when_messages_are_lost() {
    let run = measure("latency=1ms,lose=100,push", "-r 100 --max-runtime 1");
    run.assert_counts(Counts { sent: 100, received: 99, lost: 1, unexplained: 1, ..Counts::default() });
}

fn pushed_messages_cannot_be_taken_on_the_publishers_thread() {
    for (options, words) in [
        ("-e INTRA_THREAD", "give -e INTER_THREAD"),
        ("--roundtrip-mode Both", "leave out --roundtrip-mode Both"),
        ("--check-memory", "--check-memory counts the allocations"),
        ("--wait spin", "do not support --wait spin: leave out --wait spin"),
    ] {
        let memory = Memory::new();
        let run = memory.start(&format!("-c Mock --mock push {options} -r 10 --max-runtime 1")).finish();
        assert_eq!(run.status.code(), Some(2));
        assert!(run.stderr.contains(words), "{}", run.everything());
    }
}

fn copies_instead_of_loans_are_counted() {
    let run = measure("latency=1ms,copy", "-r 100 --max-runtime 1 --zero-copy");
    let total = &run.summary().total;
    assert_eq!((total.sent.copied, total.received.copied), (100, 100));
    run.assert_warnings(&["copied", "few-samples"]);
    assert!(run.warning("copied").contains("100 on publish, 100 on take"), "{}", run.warning("copied"));
    // Without zero copy, copies are expected and not counted.
    let run = measure("latency=1ms,copy", "-r 100 --max-runtime 1");
    let total = &run.summary().total;
    assert_eq!((total.sent.copied, total.received.copied), (0, 0));
}

fn a_middleware_that_prints_disturbs_nothing() {
    let run = measure("latency=1ms,print", "-r 100 --max-runtime 1");
    run.assert_counts(Counts { sent: 100, received: 100, ..Counts::default() });
    // The text goes to standard error, not among the results.
    let (first, last) = ("the mock publishes message 1\n", "the mock publishes message 100\n");
    assert!(run.run.stderr.contains(first) && run.run.stderr.contains(last), "{}", run.run.everything());
    assert!(!run.run.stdout.contains("the mock publishes"), "{}", run.run.stdout);
}

fn a_setting_arrives_and_is_part_of_the_log() {
    let [default, red] = measure_all([
        ("latency=1ms", "-r 100 --max-runtime 1"),
        ("latency=1ms", "-r 100 --max-runtime 1 --set colour=red"),
    ]);
    for (run, colour) in [(&default, "blue"), (&red, "red")] {
        assert_eq!(run.log.run.spec.settings.get("colour").map(String::as_str), Some(colour));
        assert!(run.run.stdout.contains(&format!("settings    colour {colour}\n")), "{}", run.run.stdout);
    }
}

fn a_setting_without_effect_ends_the_run() {
    let memory = Memory::new();
    let run = memory.start("-c Mock --mock deaf --set colour=red -r 10 --max-runtime 1").finish();
    assert_eq!(run.status.code(), Some(1));
    assert!(run.stderr.contains("the setting colour=red of Mock became blue"), "{}", run.everything());
    measure("deaf", "-r 10 --max-runtime 1");
}

fn an_option_without_effect_ends_the_run() {
    for (option, words) in [
        ("--reliable", "the option reliability RELIABLE of Mock became BEST_EFFORT"),
        ("--zero-copy", "the option zero-copy true of Mock became false"),
    ] {
        let run = Memory::new().start(&format!("-c Mock --mock deaf {option} -r 10 --max-runtime 1")).finish();
        assert_eq!(run.status.code(), Some(1));
        assert!(run.stderr.contains(words), "{}", run.everything());
    }
}

fn publishers_that_cannot_be_told_apart_need_a_topic_each() {
    let run = Memory::new().start("-c Mock --mock nameless -p 2 -r 10 --max-runtime 1").finish();
    assert!(run.status.code() == Some(2) && run.stderr.contains("this run has 2: give -p 1"), "{}", run.everything());
    measure("nameless", "-s 2 -r 10 --max-runtime 1");
}

fn a_setting_that_does_not_exist_is_refused_with_those_that_do() {
    let memory = Memory::new();
    for (options, words) in [
        ("-c Mock --set colour=green", "the setting colour of Mock cannot be `green`: it has blue, red"),
        ("-c Mock --set size=1", "Mock has no setting `size`: it has colour"),
        ("-c Mock --publishing async", "Mock has no setting `publishing`"),
        ("-c Mock --set colour", "give a name and a value, as publishing=async"),
        ("--publishing async --disable-async", "--publishing asks for publishing=async and --disable-async for"),
    ] {
        let run = memory.start(options).finish();
        assert!(run.status.code() == Some(2) && run.stderr.contains(words), "{options}: {}", run.everything());
    }
}

fn gantry_publishes_in_both_modes() {
    let memory = Memory::new();
    let [sync, asynchronous] = memory.run_all([
        "-r 100 --max-runtime 1 --publishing sync --shared-memory --use-single-participant",
        "-r 100 --max-runtime 1 --publishing async",
    ]);
    for (run, mode) in [(&sync, "sync"), (&asynchronous, "async")] {
        run.assert_good();
        let words = format!("settings    participants one, publishing {mode}, transport shared-memory\n");
        assert!(run.stdout.contains(&words) && run.number("received") == 100, "{}", run.stdout);
    }
    let sends = |run: &crate::program::Finished| run.stdout.contains("gantry-sender");
    assert!(!sends(&sync) && sends(&asynchronous), "{}\n{}", sync.stdout, asynchronous.stdout);
}
