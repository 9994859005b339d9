//! The storeys of this crate: no module imports from a storey above it, no files import each other in a cycle, and
//! the README shows the same storeys.

use test_support::storeys;

const STOREYS: &[&str] = &[
    "common",
    "measure",
    "system",
    "topology",
    "backend",
    "communicator",
    "log",
    "report",
    "judge",
    "cli",
    "run",
    "experiments",
    "program",
    "main",
    "bin",
];

#[test]
fn imports_go_down_and_in_no_circle() {
    storeys::check(env!("CARGO_MANIFEST_DIR"), STOREYS);
}

#[test]
fn the_readme_draws_these_storeys() {
    assert_eq!(storeys::drawn(include_str!("../README.md")), STOREYS);
}
