//! Test of the storeys (layers) of this crate: no file imports from a higher storey, and imports have no cycles.

use test_support::storeys;

const STOREYS: &[&str] = &[
    "number",
    "names",
    "domain",
    "session",
    "program",
    "qos",
    "known_types",
    "absent",
    "node",
    "interface",
    "topic",
    "service",
    "param",
    "bridge",
    "doctor",
    "cli",
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
