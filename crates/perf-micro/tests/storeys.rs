//! Checks the layers (storeys) of this crate: a file imports only from lower layers, and there are no import cycles.

use test_support::storeys;

const STOREYS: &[&str] = &[
    "transport",
    "published",
    "line",
    "options",
    "distribution",
    "rig",
    "experiment",
    "memory",
    "throughput",
    "latency",
    "recovery",
    "cli",
    "program",
    "main",
];

#[test]
fn imports_go_down_and_in_no_circle() {
    storeys::check(env!("CARGO_MANIFEST_DIR"), STOREYS);
}

#[test]
fn the_readme_draws_these_storeys() {
    assert_eq!(storeys::drawn(include_str!("../README.md")), STOREYS);
}
