//! The storeys (layers of modules) of this crate: no file imports from a higher storey, and no files import each other
//! in a circle.

use test_support::storeys;

const STOREYS: &[&str] = &[
    "abi",
    "failure",
    "argument",
    "sized",
    "event_fd",
    "convert",
    "lists",
    "parameter_list",
    "loan",
    "sample",
    "program",
    "parameter_server",
    "node",
    "graph",
    "parameters",
    "parameter_callbacks",
    "events",
    "timer",
    "guard_condition",
    "publisher",
    "subscription",
    "service",
    "client",
    "wait_set",
];

#[test]
fn imports_go_down_and_in_no_circle() {
    storeys::check(env!("CARGO_MANIFEST_DIR"), STOREYS);
}

#[test]
fn the_readme_draws_these_storeys() {
    assert_eq!(storeys::drawn(include_str!("../README.md")), STOREYS);
}
