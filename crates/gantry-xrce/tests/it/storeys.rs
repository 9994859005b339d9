//! The storeys of this crate: no import goes up, and no files import each other in a circle.

#[test]
fn no_import_goes_up_or_in_a_circle() {
    test_support::storeys::check(env!("CARGO_MANIFEST_DIR"), &["time", "wire", "framing", "stream", "session"]);
}
