//! Before the start: nothing is sent until those that were asked for have met.

use super::{Counts, Mocked, measure};

#[test]
fn nothing_is_sent_before_all_have_met() {
    // Whatever a publisher sent while it sees nobody would be lost.
    let run = measure("match=300ms", "-p 2 -s 2 -r 100 --max-runtime 1");
    run.assert_counts(Counts { sent: 200, received: 400, ..Counts::default() });
    assert!(run.summary().matched_after_ns >= 300_000_000, "{}", run.run.stdout);
}

#[test]
fn who_does_not_meet_in_time_fails_with_the_reason() {
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

#[test]
fn who_meets_too_late_fails_too() {
    let run = Mocked::start("match=30s", "-r 100 --max-runtime 1 --wait-for-matched-timeout 1").finish();
    assert_eq!(run.run.status.code(), Some(1), "{}", run.run.everything());
    assert!(run.run.stderr.contains("no reason is known"), "{}", run.run.stderr);
}
