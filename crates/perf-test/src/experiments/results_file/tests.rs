//! Tests of the schema of results files: it is generated from the types, and a results file matches it.

use serde_json::Value;

use super::*;
use crate::log::{
    figures::P50,
    tests::{assert_committed, assert_described, assert_matches, schema_of},
};

fn schema() -> Value {
    schema_of::<ResultsFile>(SCHEMA)
}

#[test]
fn the_committed_schema_of_results_is_that_of_the_types() {
    assert_committed(&schema(), "perf_test-results-1.schema.json");
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
    assert_matches(&schema(), &file);
    assert_described(&schema());
}
