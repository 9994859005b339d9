//! Definitions of messages, each with the body of a message of that type.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| test_support::messages::dynamic_views(bytes));
