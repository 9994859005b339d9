//! Tests of the schema of results files: it is generated from the types, and a results file matches it.

use std::path::PathBuf;

use serde_json::Value;

use super::*;
use crate::log::{
    figures::P50,
    tests::{assert_described, schema_of},
};

fn schema() -> Value {
    schema_of::<ResultsFile>(SCHEMA)
}

#[test]
fn the_committed_schema_of_results_is_that_of_the_types() {
    let path: PathBuf =
        [env!("CARGO_MANIFEST_DIR"), "../../docs/internals/perf_test-results-1.schema.json"].iter().collect();
    let text = format!("{:#}\n", schema());
    if std::env::var_os("WRITE_GOLDEN").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    assert!(
        std::fs::read_to_string(&path).unwrap() == text,
        "docs/internals/perf_test-results-1.schema.json is not the schema of results_file: `WRITE_GOLDEN=1 cargo test -p perf-test --lib \
         committed_schema` writes it anew. docs/internals/releasing.md says when the version must be raised"
    );
}

#[test]
fn a_file_of_results_matches_its_schema() {
    let measured = RunResults {
        contestant: "mock".to_owned(),
        options: vec![("msg".to_owned(), "Array1k".to_owned())],
        medians: Some(Values::known([(&P50, 1000.0)])),
        rounds: vec![Some(Values::known([(&P50, 1000.0)])), None],
        ..RunResults::default()
    };
    let rounds = &measured.rounds;
    let ratio = Ratio::new(("a", rounds), ("b", rounds), Some("4MB"), ("latency", &P50)).unwrap();
    let table = Table::of_runs("one run".to_owned(), Vec::new(), &["contestant"], &[], []);
    let runs = vec![measured, RunResults::default()];
    let file = ResultsFile { ratios: vec![ratio], ..ResultsFile::new("versus", 2, runs, vec![table]) };
    let file = serde_json::to_value(&file).unwrap();
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let errors: Vec<String> = validator.iter_errors(&file).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    assert_described(&schema());
}
