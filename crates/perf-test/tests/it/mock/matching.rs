//! Matching: nothing is sent before all expected endpoints are matched.

use rustix::process::Signal;

use super::{Counts, Mocked, measure};
use crate::program::{Memory, send};

test_support::tests![
    nothing_is_sent_before_all_are_matched,
    an_unmatched_run_fails_with_the_reason,
    a_match_after_the_timeout_fails_too,
    a_dead_subscription_blocks_no_endpoint_and_leaves_nothing,
    messages_without_a_subscription_are_counted,
    workers_that_start_late_are_one_warning,
];

fn nothing_is_sent_before_all_are_matched() {
    // A message of a publisher without a matched subscription would be lost.
    let run = measure("match=300ms", "-p 2 -s 2 -r 100 --max-runtime 1");
    run.assert_counts(Counts { sent: 200, received: 400, ..Counts::default() });
    assert!(run.summary().matched_after_ns >= 300_000_000, "{}", run.run.stdout);
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
    // The other subscription received all samples; the dead one did not owe later ones.
    assert!((270..540).contains(&run.number("received")), "{}", run.stdout);
    assert!((30..60).contains(&run.number("lost")), "{}", run.stdout);
    memory.assert_empty();
}

fn messages_without_a_subscription_are_counted() {
    let memory = Memory::new();
    let run = memory.run("-c Mock -t nobody -s 0 -r 100 --max-runtime 1");
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
