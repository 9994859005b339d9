//! Test of the storeys (layers) of this crate: no file imports from a higher storey, imports have no cycles, and the
//! drawing in the README shows the same storeys.

use test_support::storeys;

const STOREYS: &[&str] = &[
    "printable",
    "error",
    "lock",
    "log",
    "context",
    "wait",
    "time",
    "events",
    "callback",
    "parameter",
    "node",
    "topic",
    "service",
    "graph",
    "executor",
    "node_parameters",
    "rosout",
];

#[test]
fn imports_go_down_and_in_no_circle() {
    storeys::check(env!("CARGO_MANIFEST_DIR"), STOREYS);
}

#[test]
fn the_readme_draws_these_storeys() {
    assert_eq!(storeys::drawn(include_str!("../README.md")), STOREYS);
}
