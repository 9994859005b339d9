//! Fuzzes the parser of message definitions.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| test_support::messages::definitions(bytes));
