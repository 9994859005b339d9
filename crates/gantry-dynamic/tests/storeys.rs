//! The storeys of this crate: no import goes up, and no files import each other in a circle.

use test_support::storeys;

const STOREYS: &[&str] =
    &["wide_text", "value", "list", "message", "cursor", "message_type", "byte_order", "yaml", "filter", "testing"];

/// A message is values, a value may be a message or a list of them, and the cursor reads all of them.
const MESSAGE: &[&str] = &["value", "list", "message", "cursor", "message_type"];

#[test]
fn imports_go_down_and_in_no_circle() {
    storeys::check_with_parts(env!("CARGO_MANIFEST_DIR"), STOREYS, &[MESSAGE]);
}

#[test]
fn the_readme_draws_these_storeys() {
    assert_eq!(storeys::drawn(include_str!("../README.md")), STOREYS);
}
