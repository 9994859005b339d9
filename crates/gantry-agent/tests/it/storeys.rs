//! Tests the storeys (layers of modules) of this crate: no file imports from a higher storey, files do not import each
//! other in a circle, and the README shows the same storeys.

use test_support::storeys;

test_support::tests!(imports_go_down_and_in_no_circle, the_readme_draws_these_storeys);

const STOREYS: &[&str] = &[
    "error",
    "lock",
    "threads",
    "clock",
    "log",
    "link",
    "config",
    "context",
    "client",
    "clients",
    "agent",
    "transport",
    "main",
];

fn imports_go_down_and_in_no_circle() {
    storeys::check(env!("CARGO_MANIFEST_DIR"), STOREYS);
}

fn the_readme_draws_these_storeys() {
    assert_eq!(storeys::drawn(include_str!("../../README.md")), STOREYS);
}
