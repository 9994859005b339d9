//! Definitions, and bodies that they are for.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| test_support::messages::dynamic_views(bytes));
