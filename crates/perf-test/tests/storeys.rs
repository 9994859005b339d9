//! The storeys of this crate: no import goes up, no files import each other in a circle, and the README draws the
//! same.

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
