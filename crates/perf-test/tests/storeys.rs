//! Checks the layers (storeys) of this crate: a module imports only from lower layers, there are no import cycles, and
//! the README shows the same layers.

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
