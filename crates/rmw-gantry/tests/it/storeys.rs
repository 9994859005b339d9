//! The storeys (layers of modules) of this crate: no file imports from a higher storey, and no files import each other
//! in a circle.

use test_support::{storeys, tests};

tests![imports_go_down_and_in_no_circle, the_readme_draws_these_storeys];

const STOREYS: &[&str] = &[
    "lock",
    "tracing",
    "fatal_signal",
    "failure",
    "argument",
    "allocator",
    "names",
    "qos",
    "entities",
    "handle",
    "abi",
];

fn imports_go_down_and_in_no_circle() {
    storeys::check(env!("CARGO_MANIFEST_DIR"), STOREYS);
}

fn the_readme_draws_these_storeys() {
    assert_eq!(storeys::drawn(include_str!("../../README.md")), STOREYS);
}
