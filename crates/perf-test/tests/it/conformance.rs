//! Tests of `perf_test check`: a back end that behaves as it declares passes, and each defect of the mock causes a
//! specific error.

use serde_json::Value;

use crate::program::{Finished, Memory};

test_support::tests![
    the_mock_passes,
    gantry_passes_in_both_modes_of_publishing,
    each_defect_fails_in_its_own_words,
    losses_fail_every_check_that_they_concern,
    a_setting_without_effect_fails_in_its_own_words,
    copies_instead_of_loans_fail_their_check_alone,
    a_mock_with_listeners_declares_them,
    a_delivery_that_is_not_declared_fails,
    a_late_subscription_uses_the_daemon_of_its_publisher,
    a_check_that_fails_can_be_run_alone,
    wrong_usage_is_no_fault_of_the_middleware,
];

/// The checks in which every message must arrive.
const DELIVERY: [&str; 11] = [
    "every Array64k",
    "loans of Array64k",
    "setting colour=red",
    "2 publishers and 2 subscriptions, INTER_PROCESS",
    "2 publishers and 2 subscriptions, INTER_THREAD",
    "round trip",
    "services",
    "wait spin",
    "wait block",
    "raw",
    "phases",
];
const OTHERS: [&str; 4] = ["overload", "late join, TRANSIENT_LOCAL", "late join, VOLATILE", "killed publisher"];

/// The names and the sentences of all checks with this outcome.
fn checks(run: &Finished, outcome: &str) -> Vec<(String, String)> {
    let result: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|why| panic!("{why}: {}", run.everything()));
    let checks = result["checks"].as_array().unwrap().iter().filter(|check| check["outcome"] == outcome);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    checks.map(|check| (text(&check["name"]), text(&check["sentence"]))).collect()
}

fn names(checks: &[(String, String)]) -> Vec<&str> {
    checks.iter().map(|(name, _)| name.as_str()).collect()
}

fn the_mock_passes() {
    let memory = Memory::new();
    let run = memory.run("check -c mock");
    run.assert_good();
    for name in ["Array128", "Array64k", "Array1m", "UnboundedSequence"].map(|message| format!("every {message}: ")) {
        assert!(run.stdout.contains(&format!("ok            {name}")), "{}", run.everything());
    }
    assert!(run.stdout.ends_with(" ok, 0 failed, 0 not declared\n"), "{}", run.everything());
    memory.assert_empty();
}

fn gantry_passes_in_both_modes_of_publishing() {
    let memory = Memory::new();
    let run = memory.run("check --json");
    run.assert_good();
    let ok = checks(&run, "ok");
    for name in ["loans of Array1m", "setting publishing=async", "overload", "late join, TRANSIENT_LOCAL", "matching"] {
        assert!(names(&ok).contains(&name), "{}", run.everything());
    }
    let (_, counts) = ok.iter().find(|(name, _)| name == "overload").unwrap();
    assert!(counts.ends_with(" lost"), "no message was lost in the overload: {counts}");
    memory.assert_empty();
}

/// Checks the mock with this script and these options, and asserts that some checks fail.
fn mock(script: &str, options: &str) -> (Memory, Finished) {
    let memory = Memory::new();
    let run = memory.run(&format!("check -c Mock --mock {script} -m Array64k --json {options}"));
    assert_eq!(run.status.code(), Some(1), "{}", run.everything());
    assert!(run.stderr.contains("checks of Mock failed"), "{}", run.stderr);
    (memory, run)
}

fn each_defect_fails_in_its_own_words() {
    for (script, words) in [
        ("corrupt=7", "had another payload than was written"),
        ("swap=7", "arrived after a later one of their publisher"),
        ("duplicate=7", "arrived twice"),
        ("refuse=7", "were not sent: the publisher refused them"),
        ("early=7:1ms", "were received before they were sent"),
    ] {
        let (memory, run) = mock(script, "--only every");
        let failed = checks(&run, "failed");
        assert_eq!(names(&failed), ["every Array64k"], "{script}: {}", run.everything());
        assert!(failed[0].1.contains(words), "{script}: {failed:?}");
        memory.assert_empty();
    }
}

fn losses_fail_every_check_that_they_concern() {
    let (memory, run) = mock("lose=7", "");
    let failed = checks(&run, "failed");
    assert!(DELIVERY.iter().all(|name| names(&failed).contains(name)), "{}", run.everything());
    for (name, sentence) in failed {
        assert!(DELIVERY.contains(&&*name) || OTHERS.contains(&&*name), "{name}: {sentence}");
        assert!(sentence.contains("were lost"), "{name}: {sentence}");
    }
    memory.assert_empty();
}

fn a_setting_without_effect_fails_in_its_own_words() {
    let (memory, run) = mock("deaf", "");
    let failed = checks(&run, "failed");
    assert!(names(&failed).contains(&"setting colour=red"), "{failed:?}");
    // The check `matching` fails with another sentence, because it finds no run to examine.
    let is_named = |(name, sentence): &(String, String)| sentence.contains(" became ") || name == "matching";
    assert!(failed.iter().all(is_named), "{failed:?}");
    memory.assert_empty();
}

fn copies_instead_of_loans_fail_their_check_alone() {
    let (memory, run) = mock("copy", "");
    let failed = checks(&run, "failed");
    assert_eq!(names(&failed), ["loans of Array64k"], "{failed:?}");
    assert!(failed[0].1.contains("messages were copied"), "{failed:?}");
    memory.assert_empty();
}

fn a_mock_with_listeners_declares_them() {
    let memory = Memory::new();
    let run = memory.run("check -c Mock --mock push --only r --json -m Array128 --set colour=red");
    run.assert_good();
    assert_eq!(names(&checks(&run, "not_declared")), ["round trip", "services"], "{}", run.everything());
    assert!(names(&checks(&run, "ok")).contains(&"every Array128"), "{}", run.everything());
    memory.assert_empty();
}

fn a_delivery_that_is_not_declared_fails() {
    let (memory, run) = mock("push,undeclared", "--only every");
    let failed = checks(&run, "failed");
    assert_eq!(names(&failed), ["every Array64k"], "{}", run.everything());
    assert!(failed[0].1.contains("declares the delivery `pull`, and its subscription has `push`"), "{failed:?}");
    memory.assert_empty();
}

fn a_late_subscription_uses_the_daemon_of_its_publisher() {
    let memory = Memory::new();
    let run = memory.run("check -c Mock --mock daemon --only late");
    run.assert_good();
    // The daemon is started once for each of the two durabilities.
    assert_eq!(run.stderr.matches("the daemon of the mock is ready").count(), 2, "{}", run.everything());
    memory.assert_empty();
}

fn a_check_that_fails_can_be_run_alone() {
    let (memory, run) = mock("lose=7", "--only every");
    let result: Value = serde_json::from_str(&run.stdout).unwrap();
    let check = result["checks"].as_array().unwrap().iter().find(|check| check["name"] == "every Array64k").unwrap();
    let command = check["command"].as_str().unwrap().strip_prefix("perf_test ").unwrap();
    let alone = memory.run(command);
    alone.assert_good();
    // Every seventh message is lost. If the machine stalled, fewer messages were sent.
    assert_eq!(alone.number("lost"), alone.number("sent") / 7, "{}", alone.stdout);
}

fn wrong_usage_is_no_fault_of_the_middleware() {
    let memory = Memory::new();
    for (options, words) in [
        ("-c nothing", "there is no communicator `nothing`"),
        ("-c Mock -m Nothing", "Nothing"),
        ("-c Mock --set colour=green", "cannot be `green`"),
        ("-c Mock --only nothing", "no check has `nothing` in its name"),
        ("-c Gantry --mock lose=3", "--mock does not apply"),
    ] {
        let run = memory.run(&format!("check {options}"));
        assert_eq!(run.status.code(), Some(2), "{}", run.everything());
        assert!(run.stderr.contains(words) && run.stdout.is_empty(), "{}", run.everything());
    }
}
