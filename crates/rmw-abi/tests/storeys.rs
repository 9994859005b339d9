//! The storeys (layers of modules) of this crate: no file imports from a higher storey, and no files import each other
//! in a circle.

use test_support::storeys;

const STOREYS: &[&str] = &["bindings", "foreign", "failure", "distribution", "qos", "messages"];

/// The modules for strings, sequences and structs. They may import each other, because these values contain each other.
const VALUES_OF_A_MESSAGE: &[&str] = &[
    "messages::cpp_string",
    "messages::cpp_vector",
    "messages::probe",
    "messages::sequence",
    "messages::structure",
    "messages::text",
];

#[test]
fn imports_go_down_and_in_no_circle() {
    storeys::check_with_parts(env!("CARGO_MANIFEST_DIR"), STOREYS, &[VALUES_OF_A_MESSAGE]);
}

#[test]
fn the_readme_draws_these_storeys() {
    assert_eq!(storeys::drawn(include_str!("../README.md")), STOREYS);
}
