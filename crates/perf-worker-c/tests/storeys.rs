//! Checks the storeys (layers) of this crate: a module imports only modules of lower storeys, and no files import each
//! other in a circle.

use test_support::storeys;

const STOREYS: &[&str] = &[
    "text",
    "opaque",
    "abi",
    "failure",
    "taken",
    "description",
    "run",
    "open",
    "endpoints",
    "executor",
    "session",
    "backend",
    "exports",
];

#[test]
fn imports_go_down_and_in_no_circle() {
    storeys::check(env!("CARGO_MANIFEST_DIR"), STOREYS);
}

#[test]
fn the_readme_draws_these_storeys() {
    assert_eq!(storeys::drawn(include_str!("../README.md")), STOREYS);
}
