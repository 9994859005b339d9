//! Tests the storeys (layers of modules) of this crate: no file imports from a higher storey, files do not import each
//! other in a circle, and the README shows the same storeys.

use test_support::storeys;

const STOREYS: &[&str] = &["time", "wire", "framing", "stream", "session"];

#[test]
fn no_import_goes_up_or_in_a_circle() {
    storeys::check(env!("CARGO_MANIFEST_DIR"), STOREYS);
}

#[test]
fn the_readme_draws_these_storeys() {
    assert_eq!(storeys::drawn(include_str!("../../README.md")), STOREYS);
}
