//! The storeys (layers of modules) of this crate: no module imports from a higher storey, no files import each other
//! in a circle, and the drawing in the README shows the same storeys.

use test_support::storeys;

const STOREYS: &[&str] =
    &["crash", "error", "protocol", "os", "describe", "domain", "wait", "subscribe", "publish", "observe"];

#[test]
fn imports_go_down_and_in_no_circle() {
    storeys::check(env!("CARGO_MANIFEST_DIR"), STOREYS);
}

#[test]
fn the_readme_draws_these_storeys() {
    assert_eq!(storeys::drawn(include_str!("../README.md")), STOREYS);
}
