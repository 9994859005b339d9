//! Fuzzes dynamic views: a message definition, with the body of a message of this type.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| test_support::messages::dynamic_views(bytes));
