//! Tests the storeys (layers of modules) of this crate: no file imports from a higher storey, and files do not import
//! each other in a circle.

use test_support::storeys;

const STOREYS: &[&str] = &[
    "value",
    "comment",
    "suggestion",
    "error",
    "token",
    "name",
    "model",
    "literal",
    "field_type",
    "parser",
    "definitions",
    "hash",
    "layout",
    "resolve",
    "packages",
    "text",
    "dds_idl",
    "generate",
    "cpp",
];

#[test]
fn imports_go_down_and_in_no_circle() {
    storeys::check(env!("CARGO_MANIFEST_DIR"), STOREYS);
}

#[test]
fn the_readme_draws_these_storeys() {
    assert_eq!(storeys::drawn(include_str!("../README.md")), STOREYS);
}
