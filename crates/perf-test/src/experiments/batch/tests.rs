use std::path::Path;

use serde_json::{Value, json};

use super::*;
use crate::cli::RunOptions;

fn planned(contestant: &str, spec: Result<RunSpec, String>) -> PlannedRun {
    PlannedRun::new(contestant, format!("{contestant} 4MB"), format!("4MB/{contestant}.json").into(), spec)
}

fn mock() -> RunSpec {
    contestants("Mock").unwrap().remove(0).spec(&RunOptions::default()).unwrap()
}

fn value(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn a_refusal_is_an_outcome_and_is_told_in_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let batch = Batch::open(Some(folder.path().join("results")), false, Interrupt::of_program()).unwrap();
    let outcomes = batch.run_all(&[planned("x", Err("x has no --wait spin".to_owned()))], |_| Ok(())).unwrap();
    let [Outcome::Missing(shortfall)] = outcomes.as_slice() else { panic!("{outcomes:?}") };
    assert_eq!((shortfall.kind, shortfall.sentence.as_str()), (ShortfallKind::Refused, "x has no --wait spin"));
    let results = folder.path().join("results");
    let told = json!({
        "contestant": "x", "title": "x 4MB", "log": "4MB/x.json", "kind": "refused", "sentence": "x has no --wait spin"
    });
    assert_eq!(value(&results.join("4MB/x.failed.json")), told);
    assert!(value(&results.join("environment.json"))["system"]["cpu"].is_object());
    assert!(std::fs::read_to_string(results.join("commands.txt")).unwrap().starts_with("perf_test "));
}

#[test]
fn names_of_dots_do_not_leave_the_folder() {
    for (text, name) in
        [("..", "__"), (".", "_"), ("...", "___"), ("a/../b", "a_.._b"), ("1.5GHz", "1.5GHz"), ("a=b c", "a=b_c")]
    {
        assert_eq!(file_name(text), name);
    }
}

#[test]
fn runs_after_an_interrupt_are_not_done() {
    let interrupt = Interrupt::of_program();
    let batch = Batch::open(None, false, interrupt.clone()).unwrap();
    interrupt.request();
    let outcomes = batch.run_all(&[planned("mock", Ok(mock())), planned("x", Err(String::new()))], |_| Ok(())).unwrap();
    assert!(matches!(outcomes[..], [Outcome::NotDone, Outcome::NotDone]), "{outcomes:?}");
}

#[test]
fn runs_are_of_one_kind_if_only_their_length_differs() {
    let shorter = RunSpec { max_runtime_s: 1, ignore_s: 3, ..mock() };
    assert!(is_same(&planned("x", Ok(mock())), &planned("x", Ok(shorter))));
    assert!(!is_same(&planned("x", Ok(mock())), &planned("x", Ok(RunSpec { rate_hz: 7, ..mock() }))));
    assert!(!is_same(&planned("x", Ok(mock())), &planned("y", Ok(mock()))));
}

#[test]
fn each_refusal_has_its_own_sentence_and_file() {
    let folder = tempfile::tempdir().unwrap();
    let batch = Batch::open(Some(folder.path().into()), false, Interrupt::of_program()).unwrap();
    let types = ["Array4k", "Struct16", "PointCloud1m"];
    let runs = types.map(|name| PlannedRun {
        title: format!("x {name}"),
        log: format!("{name}.json").into(),
        ..planned("x", Err(format!("x has no {name}")))
    });
    let outcomes = batch.run_all(&runs, |_| Ok(())).unwrap();
    for (name, outcome) in types.iter().zip(&outcomes) {
        assert_eq!(outcome.shortfall().unwrap().sentence, format!("x has no {name}"));
        let told = value(&folder.path().join(format!("{name}.failed.json")));
        assert_eq!((&told["title"], &told["kind"]), (&json!(format!("x {name}")), &json!("refused")));
    }
}

#[test]
fn a_run_after_failures_of_its_kind_is_not_tried_and_leaves_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let batch = Batch::open(Some(folder.path().into()), false, Interrupt::of_program()).unwrap();
    // There is no worker program of this name, so each run fails at once.
    let spec = RunSpec { communicator: "absent".to_owned(), ..mock() };
    let run = |round: u32| PlannedRun {
        title: format!("absent, round {round}"),
        log: format!("round{round}.json").into(),
        ..planned("absent", Ok(spec.clone()))
    };
    let runs = [1, 2, 3, 4].map(run);
    let outcomes = batch.run_all(&runs, |_| Ok(())).unwrap();
    assert!(repeated_failure(&runs[1], &runs, &outcomes[..1]).is_none());
    assert!(repeated_failure(&runs[2], &runs, &outcomes[..2]).is_some());
    for round in 1..=4 {
        let told = value(&folder.path().join(format!("round{round}.failed.json")));
        assert_eq!(told["title"], format!("absent, round {round}"));
        assert!(told["sentence"].as_str().unwrap().contains("there is no communicator `absent`"), "{told}");
    }
}
