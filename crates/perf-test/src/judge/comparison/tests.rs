//! Comparisons of logs in files.

use std::path::Path;
use std::slice::from_ref;

use super::*;
use crate::log::{Head, RunEntry};
use crate::report::summary::tests::{spec, summary};
use crate::system::System;

/// Writes a log of a run with this latency, which was created at that time.
fn log(folder: &Path, name: &str, latency_ns: u64, created_unix_ms: u64) -> PathBuf {
    let run = RunEntry { created_unix_ms, ..RunEntry::now(&spec(""), name, "/t", &Default::default()) };
    let head = Head { schema: crate::log::SCHEMA, run, environment: System::default() };
    let path = folder.join(name);
    head.create(&path).unwrap().finish("summary", &summary("", latency_ns)).unwrap();
    path
}

fn logs(folder: &Path, side: &str, latencies_ns: [u64; 6], first_ms: u64) -> Vec<PathBuf> {
    let one = |index: usize, ns: u64| log(folder, &format!("{side}{index}"), ns, first_ms + 10 * index as u64);
    latencies_ns.into_iter().enumerate().map(|(index, ns)| one(index, ns)).collect()
}

#[test]
fn a_comparison_names_both_sides_the_changes_and_the_answers() {
    let folder = tempfile::tempdir().unwrap();
    let base = logs(folder.path(), "base", [10_000, 10_100, 10_200, 10_300, 10_400, 10_500], 0);
    let new = logs(folder.path(), "new", [15_000, 15_100, 15_200, 15_300, 15_400, 15_500], 5);
    let bounds = ["p50=10%", "cpu_per_message=5%"].map(|bound| bound.parse().unwrap());
    let found = Comparison::of_logs(&base, &new, &bounds).unwrap();
    let text = found.lines().join("\n");
    for words in [
        &format!("base: 6 runs of Gantry {} by perf_test", env!("CARGO_PKG_VERSION")),
        "6 and 6 runs, not paired: from base to new",
        "| latency p50     | 10.2 µs   | 15.2 µs   | +48.8 % ",
        "EXCEEDED      p50=10%: latency p50 +48.8 % (",
        "not exceeded  cpu_per_message=5%: CPU per message +0.0 % (",
        "with 95.9 %",
    ] {
        assert!(text.contains(words), "no {words:?} in\n{text}");
    }
    assert!(!text.contains("warning: the sides") && !text.contains("measured before"), "{text}");
    assert!(matches!(found.exceeded()[..], [sentence] if sentence.contains("latency p50")), "{:?}", found.exceeded());
    let json = serde_json::to_value(&found).unwrap();
    let p50 = &json["changes"][0];
    assert_eq!((&p50["metric"], &p50["unit"], &p50["finding"]), (&"p50".into(), &"ns".into(), &"higher".into()));
    assert_eq!((&p50["before"][0], &json["bounds"][0]["exceeded"]), (&10_000.0.into(), &true.into()));
    assert_eq!(json["new"]["run_ids"][5], "new5");
}

#[test]
fn sides_that_were_measured_one_after_the_other_are_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let base = logs(folder.path(), "base", [10_000; 6], 100);
    let new = logs(folder.path(), "new", [10_000; 6], 0);
    let warned = |base: &[PathBuf], new: &[PathBuf]| {
        Comparison::of_logs(base, new, &[]).unwrap().lines().join("\n").contains("Measure both sides in turn")
    };
    assert!(warned(&base, &new) && warned(&new, &base));
}

#[test]
fn a_log_that_says_nothing_is_refused_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let good = log(folder.path(), "good", 10_000, 0);
    let killed = folder.path().join("killed");
    let whole: serde_json::Value = serde_json::from_slice(&std::fs::read(&good).unwrap()).unwrap();
    let mut without = whole.clone();
    without.as_object_mut().unwrap().remove("summary");
    std::fs::write(&killed, without.to_string()).unwrap();
    let failed = folder.path().join("failed");
    let mut worthless = whole;
    worthless["summary"]["failure"] = "no sample was sent".into();
    std::fs::write(&failed, worthless.to_string()).unwrap();
    for (new, words) in [
        (&killed, ["killed has no summary", "was killed"]),
        (&failed, ["failed is of a run that failed", "no sample was sent"]),
        (&good, ["same run", "give each run once"]),
        (&folder.path().join("none"), ["cannot read", "none"]),
    ] {
        let sentence = Comparison::of_logs(from_ref(&good), from_ref(new), &[]).unwrap_err();
        assert!(words.iter().all(|words| sentence.contains(words)), "{sentence}");
    }
}
