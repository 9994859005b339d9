//! Definitions, each with a body of its message.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| test_support::messages::dynamic_views(bytes));
