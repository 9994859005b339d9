//! Tests the storeys (layers of modules) of this crate: no file imports from a higher storey, and files do not import
//! each other in a circle.

use test_support::storeys;

const STOREYS: &[&str] = &[
    "error",
    "copy",
    "aligned",
    "encapsulation",
    "element",
    "cursor",
    "input",
    "composer",
    "shape",
    "kind",
    "view",
    "message",
    "in_place",
    "plain",
    "plain_body",
    "service",
];

/// The files that may import each other in a circle. A message consists of fields and can itself be a field, so all
/// these files depend on each other.
const MESSAGE: &[&str] =
    &["element", "cursor", "input", "composer", "shape", "kind", "view", "message", "in_place", "plain", "plain_body"];

#[test]
fn imports_go_down_and_in_no_circle() {
    storeys::check_with_parts(env!("CARGO_MANIFEST_DIR"), STOREYS, &[MESSAGE]);
}

#[test]
fn the_readme_draws_these_storeys() {
    assert_eq!(storeys::drawn(include_str!("../../README.md")), STOREYS);
}
