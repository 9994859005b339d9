//! Tests of matching: no publisher sends before all expected endpoints are matched.

use rustix::process::Signal;

use super::{Counts, Mocked, measure, measure_all};
use crate::program::{Memory, send};

test_support::tests![
    nothing_is_sent_before_all_are_matched,
    probes_match_where_endpoints_are_not_counted,
    a_middleware_that_counts_wrongly_is_found_by_probes,
    probes_that_do_not_arrive_are_the_reason,
    programs_match_by_probes,
    an_unmatched_run_fails_with_the_reason,
    a_match_after_the_timeout_fails_too,
    a_dead_subscription_blocks_no_endpoint_and_leaves_nothing,
    messages_without_a_subscription_are_counted,
    workers_that_start_late_are_one_warning,
];

fn nothing_is_sent_before_all_are_matched() {
    // A message that is sent before its subscriptions are matched would be lost.
    let run = measure("match=300ms", "-p 2 -s 2 -r 100 --max-runtime 1");
    run.assert_counts(Counts { sent: 200, received: 400, ..Counts::default() });
    // The mock creates its endpoints shortly before it reports them, so less than 300 ms may be measured.
    assert!(run.summary().matched_after_ns >= 200_000_000, "{}", run.run.stdout);
}

/// Probes are never counted, whatever the script does to messages.
fn probes_match_where_endpoints_are_not_counted() {
    let keep_all = "--reliable --history KEEP_ALL --transient";
    let runs = [
        ("latency=1ms,match=100ms,matching=any", "-p 2 -s 2"),
        ("latency=1ms,match=100ms,matching=unknown", "-p 2 -s 2"),
        ("latency=1ms,matching=unknown,push", "-p 2 -s 2"),
        ("latency=200ms,matching=any,nameless", "-s 4"),
        ("latency=1ms,matching=unknown,overwrite=10", keep_all),
        ("latency=1ms,matching=unknown,lose=10", "-e INTRA_THREAD"),
        ("latency=1ms,matching=unknown", "--roundtrip-mode Both"),
    ];
    let options = runs.map(|(_, options)| format!("{options} -r 100 --max-runtime 1"));
    let scripts: Vec<(&str, &str)> =
        runs.iter().zip(&options).map(|((script, _), of)| (*script, of.as_str())).collect();
    let measured = measure_all::<7>(scripts.try_into().unwrap());
    let all = |sent, received| Counts { sent, received, ..Counts::default() };
    for (run, counts) in measured.iter().zip([
        all(200, 400),
        all(200, 400),
        all(200, 400),
        // Probes that are in flight at the start arrive after it, and must not be counted.
        Counts { too_late: 400, ..all(100, 400) },
        Counts { lost: 10, overwritten: 10, ..all(100, 90) },
        Counts { lost: 10, unexplained: 10, ..all(100, 90) },
        Counts { relayed: 100, ..all(100, 100) },
    ]) {
        run.assert_counts(counts);
        assert_eq!(run.summary().total.received.history, 0, "{}", run.run.stdout);
        assert!(run.run.stdout.contains("probes show it"), "{}", run.run.stdout);
    }
}

fn a_middleware_that_counts_wrongly_is_found_by_probes() {
    let [counted, probed] = measure_all([
        ("latency=1ms,mute=1s", "-r 100 --max-runtime 2"),
        ("latency=1ms,mute=1s,matching=unknown", "-r 100 --max-runtime 2"),
    ]);
    assert!(counted.counts().lost > 0, "{}", counted.run.everything());
    probed.assert_counts(Counts { sent: 200, received: 200, ..Counts::default() });
}

fn probes_that_do_not_arrive_are_the_reason() {
    let script = "matching=unknown,mute=100s";
    let run = Mocked::start(script, "-r 100 --max-runtime 1 --wait-for-matched-timeout 1").finish();
    assert_eq!(run.run.status.code(), Some(1), "{}", run.run.everything());
    for words in ["subscription 0 is matched with 0 of 1 publishers", "no probe of a publisher arrived"] {
        assert!(run.run.stderr.contains(words), "{}", run.run.stderr);
    }
}

/// A publisher that cannot discover subscriptions does not wait for any.
fn programs_match_by_probes() {
    let memory = Memory::new();
    let of = "-c Mock --mock matching=unknown,latency=1ms -t meet";
    let subscriber = memory.start(&format!("{of} -p 0 --expected-num-pubs 1 --max-runtime 1"));
    let publisher = memory.start(&format!("{of} -s 0 -r 100 --max-runtime 4"));
    let (subscriber, publisher) = (subscriber.finish(), publisher.finish());
    subscriber.assert_good();
    publisher.assert_good();
    assert_eq!((publisher.number("sent"), subscriber.number("received") > 50), (400, true), "{}", subscriber.stdout);
    memory.assert_empty();
}

fn an_unmatched_run_fails_with_the_reason() {
    let run = Mocked::start("mismatch", "-r 100 --max-runtime 1 --wait-for-matched-timeout 1").finish();
    assert_eq!(run.run.status.code(), Some(1), "{}", run.run.everything());
    let sentence = run.run.stderr.as_str();
    for words in
        ["is matched with 0 of 1", "after 1 s (--wait-for-matched-timeout)", "the script of the mock says mismatch"]
    {
        assert!(sentence.contains(words), "{sentence}");
    }
    assert!(run.log.rows.is_empty() && run.log.summary.is_none(), "{}", run.run.stdout);
}

fn a_match_after_the_timeout_fails_too() {
    let run = Mocked::start("match=30s", "-r 100 --max-runtime 1 --wait-for-matched-timeout 1").finish();
    assert_eq!(run.run.status.code(), Some(1), "{}", run.run.everything());
    assert!(run.run.stderr.contains("no reason is known"), "{}", run.run.stderr);
}

fn a_dead_subscription_blocks_no_endpoint_and_leaves_nothing() {
    let memory = Memory::new();
    let mut run = memory.start("-c Mock --mock lose=10 -s 2 -r 100 --max-runtime 3");
    run.wait_for("| T_experiment |");
    send(run.worker("subscription 1"), Signal::KILL);
    let run = run.finish();
    run.assert_good();
    assert_eq!(run.number("sent"), 300, "{}", run.stdout);
    assert!(!run.stdout.contains("refused"), "{}", run.stdout);
    // The other subscription received all messages. For the killed subscription, later messages do not count as lost.
    assert!((270..540).contains(&run.number("received")), "{}", run.stdout);
    assert!((30..60).contains(&run.number("lost")), "{}", run.stdout);
    memory.assert_empty();
}

fn messages_without_a_subscription_are_counted() {
    let memory = Memory::new();
    let run = memory.run("-c Mock -t lonely -s 0 -r 100 --max-runtime 1");
    assert_eq!(run.status.code(), Some(1), "{}", run.everything());
    assert!(run.stdout.contains("100 of these while no subscription was matched"), "{}", run.stdout);
    assert!(run.stdout.contains("100 of 100 messages were sent while no subscription was matched"), "{}", run.stdout);
    assert!(run.stderr.contains("no subscription was matched on topic"), "{}", run.stderr);
}

fn workers_that_start_late_are_one_warning() {
    let run = measure("start=2s", "-s 2 -r 100 --max-runtime 1");
    let sentence = run.warning("late-start");
    assert!(sentence.starts_with("3 of 3 workers started after the common start, at worst "), "{sentence}");
    assert_eq!(run.summary().warnings.iter().filter(|warning| warning.kind == "late-start").count(), 1);
}
