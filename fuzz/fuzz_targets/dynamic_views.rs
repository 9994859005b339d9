//! Definitions, each with a body of its message.

#![no_main]
#![allow(dead_code, reason = "the other targets are in the same file")]

#[path = "../../crates/gantry-msgs/tests/support/fuzzing.rs"]
mod fuzzing;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzzing::dynamic_views(bytes));
