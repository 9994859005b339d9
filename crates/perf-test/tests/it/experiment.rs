//! Tests of `perf_test sweep sizes`, `types` and `matrix` with the real program.

use std::fs;

use serde_json::Value;

use crate::program::Memory;

test_support::tests![
    zero_copy_of_several_contestants_is_one_table_with_pairs,
    sizes_measures_every_way_and_goes_on_where_it_ended,
    types_and_matrix_tell_refusals_beside_figures,
    wrong_input_is_refused_before_a_run,
];

const SHORT: &str = "--warmup 0 --max-runtime 1";

fn zero_copy_of_several_contestants_is_one_table_with_pairs() {
    let memory = Memory::new();
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path();
    let options = format!(
        "sweep zero-copy -c Gantry,Mock -m Array64k -r 50 --runs 2 --max-runtime 1 --results {}",
        results.display()
    );
    let first = memory.run(&options);
    first.assert_good();
    for words in ["| Communication Method |", "| gantry     | \"zero-copy\" ", "gantry: zero copy / copy: p50 "] {
        assert!(first.stdout.contains(words), "{words} is not in {}", first.everything());
    }
    // Every second round has the reverse order.
    let of_mock = first.stderr.lines().filter_map(|line| line.split_once(": mock, Communication Method "));
    let order: Vec<&str> = of_mock.map(|(_, rest)| rest).collect();
    assert!(
        order[0].starts_with("Non-\"zero-copy\", round 1") && order[2].starts_with("\"zero-copy\", round 2"),
        "{order:?}"
    );
    let found: Value = serde_json::from_slice(&fs::read(results.join("zero-copy.json")).unwrap()).unwrap();
    assert_eq!(
        (&found["runs"][2]["zero_copy"], &found["ratios"][0]["other"]),
        (&true.into(), &"gantry, copy".into()),
        "{found}"
    );
    assert_eq!(found["runs"][1]["rounds"].as_array().unwrap().len(), 2, "{found}");
    assert!(results.join("zero-copy.md").is_file() && results.join("zero-copy/mock/default-round2.json").is_file());
    let second = memory.run(&options);
    assert_eq!(second.stderr.matches("its log is there").count(), 8, "{}", second.everything());
    memory.assert_empty();
}

fn sizes_measures_every_way_and_goes_on_where_it_ended() {
    let memory = Memory::new();
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path();
    let options =
        format!("sweep sizes -c Gantry,Mock -m Array1k,Array64k -r 100 {SHORT} --results {}", results.display());
    let first = memory.run(&options);
    first.assert_good();
    for words in [
        "| gantry     | INTER_THREAD       | Array64k | async      | 65536 |",
        "| mock       |",
        "no knee can be found",
    ] {
        assert!(first.stdout.contains(words), "{words} is not in {}", first.everything());
    }
    let found: Value = serde_json::from_slice(&fs::read(results.join("sizes.json")).unwrap()).unwrap();
    assert_eq!((found["knees"].as_array().unwrap().len(), found["runs"].as_array().unwrap().len()), (6, 12), "{found}");
    assert!(found["runs"][3]["medians"]["p50_ns"].as_f64().is_some_and(|ns| ns > 0.0), "{found}");
    assert_eq!((&found["schema"], &found["command"]), (&"gantry.perf_test.results/1".into(), &"sweep sizes".into()));
    let rows = found["tables"][0]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 13, "{found}");
    assert!(results.join("sizes.md").is_file() && results.join("sizes.svg").is_file());
    // Only the run whose log is missing is repeated.
    let missing = results.join("sizes/mock/execution-strategy=INTER_THREAD_msg=Array64k-round1.json");
    fs::remove_file(&missing).unwrap();
    let second = memory.run(&options);
    second.assert_good();
    assert_eq!(second.stderr.matches("its log is there").count(), 11, "{}", second.everything());
    assert!(missing.is_file());
    memory.assert_empty();
}

fn types_and_matrix_tell_refusals_beside_figures() {
    let memory = Memory::new();
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path();
    let types = format!("sweep types -c Gantry:raw -m Array1k,Stamped10b {SHORT} --results {}", results.display());
    let types = memory.run(&types);
    types.assert_good();
    assert!(types.stdout.contains("| gantry:raw | Array1k    | 1024  |"), "{}", types.everything());
    assert!(results.join("types.json").is_file() && results.join("types.md").is_file());
    let yaml = results.join("run.yaml");
    let text = "experiments:\n- com_mean: [Gantry, OpenDDS]\n  msg: [Array1k, Array4k]\n  max_runtime: 1\n  ignore_seconds: 0\n";
    fs::write(&yaml, text).unwrap();
    let matrix = format!("sweep matrix {} --results {}", yaml.display(), results.display());
    let first = memory.run(&matrix);
    first.assert_good();
    assert_eq!(first.stdout.matches("| refused [1] |").count(), 2, "{}", first.everything());
    let found: Value = serde_json::from_slice(&fs::read(results.join("matrix.json")).unwrap()).unwrap();
    assert_eq!(found["runs"][0]["qos"], "RELIABLE, VOLATILE, KEEP_LAST 16");
    let second = memory.run(&matrix);
    assert_eq!(second.stderr.matches("its log is there").count(), 2, "{}", second.everything());
    memory.assert_empty();
}

fn wrong_input_is_refused_before_a_run() {
    let memory = Memory::new();
    let folder = tempfile::tempdir().unwrap();
    let yaml = folder.path().join("run.yaml");
    fs::write(&yaml, "experiments:\n- msg: Array1k\n  speed: 3\n").unwrap();
    for (options, words) in [
        (format!("matrix {}", yaml.display()), "line 3: there is no key `speed`"),
        ("matrix -r 100,fast".to_owned(), "give a whole number from 0"),
        ("sizes -m Arry1k".to_owned(), "there is no message `Arry1k`"),
        ("zero-copy -c Gantry,Mock --zero-copy".to_owned(), "leave out --zero-copy"),
        ("zero-copy -c Gantry,Mock -m Arry1k".to_owned(), "there is no message `Arry1k`"),
        ("zero-copy --max-runtime 0".to_owned(), "give --max-runtime 1 or more"),
        ("zero-copy --require lost=0".to_owned(), "--require applies to single runs"),
        ("zero-copy -o none -o csv".to_owned(), "-o none contradicts another output"),
        ("types --runs 3".to_owned(), "give --rounds"),
        ("types -m ,".to_owned(), "--msg has no value"),
        (format!("types --results {}", yaml.display()), "run.yaml is not a folder: give --results a folder"),
    ] {
        let refused = memory.run(&format!("sweep {options}"));
        assert_eq!(refused.status.code(), Some(2), "{}", refused.everything());
        assert!(refused.stderr.contains(words), "{words} is not in {}", refused.everything());
    }
}
