//! Tests of comparisons of logs.

use std::path::Path;
use std::slice::from_ref;

use super::*;
use crate::log::tests::{assert_committed, assert_described, assert_matches, schema_of};
use crate::log::{Head, RunEntry};
use crate::report::summary::tests::{spec, summary};
use crate::system::System;

/// Writes the log of a run with this latency, created at this time.
fn log(folder: &Path, name: &str, latency_ns: u64, created_unix_ms: u64) -> PathBuf {
    let run =
        RunEntry { created_unix_ms, ..RunEntry::now(&spec(""), &name.replace('/', "-"), "/t", &Default::default()) };
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
fn the_committed_schemas_of_comparisons_are_those_of_the_types_and_match() {
    let folder = tempfile::tempdir().unwrap();
    let [base, new] = ["base", "new"].map(|side| {
        std::fs::create_dir(folder.path().join(side)).unwrap();
        (1..=6).map(|n| log(folder.path(), &format!("{side}/x-round{n}.json"), 10_000, n)).collect::<Vec<_>>()
    });
    let schema = schema_of::<Comparison>(SCHEMA);
    assert_committed(&schema, "perf_test-compare-1.schema.json");
    assert_described(&schema);
    let found = Comparison::of_logs(&base, &new, &["p50=10%".parse().unwrap()]).unwrap();
    assert_matches(&schema, &serde_json::to_value(found).unwrap());

    let schema = schema_of::<FolderComparison>(folders::SCHEMA);
    assert_committed(&schema, "perf_test-compare_folders-1.schema.json");
    assert_described(&schema);
    let [base, new] = ["base", "new"].map(|side| folder.path().join(side));
    let found = FolderComparison::of_folders(&base, &new, &[]).unwrap();
    assert_matches(&schema, &serde_json::to_value(found).unwrap());
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

#[test]
fn two_folders_show_what_changed_in_each_kind_of_run_that_both_have() {
    let root = tempfile::tempdir().unwrap();
    for (folder, slow_ns) in [("base", 10_000), ("new", 15_000)] {
        std::fs::create_dir_all(root.path().join(folder).join("4MB")).unwrap();
        for round in 1..=6 {
            log(root.path(), &format!("{folder}/4MB/slow-round{round}.json"), slow_ns + 10 * round, 10 * round);
            log(root.path(), &format!("{folder}/4MB/same-round{round}.json"), 20_000 + 10 * round, 10 * round);
        }
        std::fs::write(root.path().join(folder).join("versus.json"), "{}").unwrap();
    }
    log(root.path(), "new/4MB/late-round1.json", 10_000, 1);
    let [base, new] = &["base", "new"].map(|folder| root.path().join(folder));
    let bounds = ["p50=10%".parse().unwrap()];
    let found = FolderComparison::of_folders(base, new, &bounds).unwrap();
    let text = found.lines().join("\n");
    assert!(text.starts_with("2 kinds of run in both "), "{text}");
    assert!(text.contains(&format!("only in {}: 4MB/late", new.display())), "{text}");
    assert!(text.contains("| 4MB/slow | latency p50 ") && text.contains("| higher"), "{text}");
    assert!(!text.contains("| 4MB/same "), "{text}");
    assert!(text.contains("without a difference, 0 with too few runs to say"), "{text}");
    assert!(
        matches!(&found.exceeded()[..], [one] if one.starts_with("4MB/slow: latency p50")),
        "{:?}",
        found.exceeded()
    );
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!((&json["kinds"][1]["name"], &json["only_new"][0]), (&"4MB/slow".into(), &"4MB/late".into()));

    let none = FolderComparison::of_folders(base, &new.join("absent"), &[]).unwrap_err();
    assert!(none.contains("cannot read the folder"), "{none}");
    let other = tempfile::tempdir().unwrap();
    assert!(FolderComparison::of_folders(base, other.path(), &[]).unwrap_err().contains("has no log"));
    log(other.path(), "other.json", 1000, 1);
    let apart = FolderComparison::of_folders(base, other.path(), &[]).unwrap_err();
    assert!(apart.contains("no kind of run in common, as 4MB/same, 4MB/slow and other"), "{apart}");
}
