//! Tests the storeys (layers of modules) of this crate: no module imports from a higher storey, and imports form no
//! circle.

use test_support::storeys;

const STOREYS: &[&str] = &[
    "progress", "describe", "topics", "write", "read", "import", "info", "verify", "record", "play", "convert", "cli",
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
