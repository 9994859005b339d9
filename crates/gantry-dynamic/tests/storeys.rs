//! Tests the storeys (layers of modules) of this crate: no file imports from a higher storey, and files do not import
//! each other in a circle.

use test_support::storeys;

const STOREYS: &[&str] =
    &["wide_text", "value", "list", "message", "cursor", "message_type", "byte_order", "yaml", "filter", "testing"];

/// The modules that may import each other: a message has values, a value may be a message or a list of messages, and
/// the cursor reads all of them.
const MESSAGE: &[&str] = &["value", "list", "message", "cursor", "message_type"];

#[test]
fn imports_go_down_and_in_no_circle() {
    storeys::check_with_parts(env!("CARGO_MANIFEST_DIR"), STOREYS, &[MESSAGE]);
}

#[test]
fn the_readme_draws_these_storeys() {
    assert_eq!(storeys::drawn(include_str!("../README.md")), STOREYS);
}
